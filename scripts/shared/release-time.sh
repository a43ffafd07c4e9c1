# Sourced in the root of the repository. Sets SOURCE_DATE_EPOCH, the time of the files in packages, to that of the last entry of
# debian/changelog if it is not set.
# shellcheck shell=sh
: "${SOURCE_DATE_EPOCH:=$(date -d "$(sed -n 's/^ -- .*>  //p' debian/changelog | head -n 1)" +%s)}"
export SOURCE_DATE_EPOCH
