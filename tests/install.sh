#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs into an empty directory, builds a program against the installed library through pkg-config, runs
# both, uninstalls, and looks that nothing is left.
#   tests/install.sh BUILD
set -euo pipefail

build=$1
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT

make --no-print-directory -s BUILD="$build" PREFIX=/opt/probe DESTDIR="$place/root" install >/dev/null
prefix=$place/root/opt/probe
"$prefix/bin/isaprobe" --version >/dev/null

cat >"$place/user.c" <<'END'
#include "isa/table.h"
int main(void) {
    struct ip_error err = {0};
    struct isa_form form;
    return isa_form_parse(&form, "addpd xmm, xmm", &err) == IP_OK ? 0 : 1;
}
END
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$place/root
# The modules' headers want the static library. The flags are words on purpose.
# shellcheck disable=SC2046
gcc -std=c11 -o "$place/user" "$place/user.c" $(pkg-config --cflags --libs --static isaprobe | sed 's/-lisaprobe/-l:libisaprobe.a/')
"$place/user"

# The shared library: its name, and no functions but those that the header declares.
library=$prefix/lib/libisaprobe.so
readelf -d "$library" | grep -q 'SONAME.*\[libisaprobe\.so\.0\]' || { echo 'install: wrong soname'; exit 1; }
nm -D --defined-only "$library" | awk '{ print $3 }' | sort >"$place/offered"
grep -o -E '\bisaprobe_[a-z_]+\(' "$prefix/include/isaprobe/isaprobe.h" | tr -d '(' | sort -u >"$place/declared"
diff "$place/declared" "$place/offered" || { echo 'install: the shared library offers other than the header declares'; exit 1; }

# Without DESTDIR, and into a folder with a blank: the loader's cache is renewed, and install says where that is of
# no use. The cache is that of a namespace with an /etc of its own, where there may be one.
own="$place/own place"
cat >"$place/linked.c" <<'END'
#include <isaprobe.h>
int main(void) {
    return isaprobe_version()[0] == '\0';
}
END
cat >"$place/ldconfig" <<'END'
#!/bin/sh
echo "ldconfig $*" >>"$0.log"
[ "$*" != -p ] || cat "$0.cache"
END
chmod +x "$place/ldconfig"
installs() { make --no-print-directory -s BUILD="$build" PREFIX="$own" DESTDIR= LDCONFIG="$place/ldconfig" "$@"; }
echo "libisaprobe.so.0 (libc6,x86-64) => $own/lib/libisaprobe.so.0" >"$place/ldconfig.cache"
installs install >"$place/said"
[[ $(cat "$place/said") == "installed into $own" ]] || { cat "$place/said"; exit 1; }
: >"$place/ldconfig.cache"
installs install >"$place/said"
grep -q "do not find $own/lib/libisaprobe.so.0 yet" "$place/said" || { cat "$place/said"; exit 1; }
installs uninstall
printf 'ldconfig %s\n' '' -p '' -p '' | diff - "$place/ldconfig.log"
left=$(find "$own" -type f -o -type l)
[[ -z $left ]] || { echo "install: uninstall left: $left"; exit 1; }
if unshare -rm true 2>/dev/null; then
    mkdir "$place/etc"
    cp -a /etc/. "$place/etc" 2>/dev/null || true
    mkdir -p "$place/etc/ld.so.conf.d"
    echo "$own/lib" >"$place/etc/ld.so.conf.d/isaprobe.conf"
    export own build place
    # shellcheck disable=SC2016
    PKG_CONFIG_SYSROOT_DIR='' PKG_CONFIG_PATH="$own/lib/pkgconfig" \
        unshare -rm bash -euc '
        mount --bind "$place/etc" /etc
        make --no-print-directory -s BUILD="$build" PREFIX="$own" DESTDIR= install
        eval "gcc -o \"$place/linked\" \"$place/linked.c\" $(pkg-config --cflags --libs isaprobe)"
        "$place/linked"
        make --no-print-directory -s BUILD="$build" PREFIX="$own" DESTDIR= uninstall' >"$place/said" 2>&1 ||
        { cat "$place/said"; exit 1; }
fi
export LD_LIBRARY_PATH=$prefix/lib

# The example, as a user builds it, on a store of a simulated CPU.
# shellcheck disable=SC2046
gcc -std=c11 -Wall -Wextra -Werror -o "$place/loop_costs" examples/loop_costs.c \
    $(pkg-config --cflags --libs isaprobe)
readelf -d "$place/loop_costs" | grep -q 'NEEDED.*\[libisaprobe\.so\.0\]' || { echo 'install: not linked'; exit 1; }
"$prefix/bin/isaprobe" scan -q --parts latency,throughput,slots,ports -t sim:tests/data/everything.sim -S "$place/cpu.db" \
    "imul r64, r64" "popcnt r64, r64" "shlx r64, r64, r64"
"$place/loop_costs" "$place/cpu.db" 480fafc3f3480fb8cbc4e2e9f7c1 >"$place/said"
grep -q '^imul r64, r64 .* 3.00 .* 1\*p' "$place/said" || { cat "$place/said"; exit 1; }
# IMUL and POPCNT share a port there.
grep -q '^all 3: 3\.[0-9]* slots, ports need 2.00 cycles$' "$place/said" || { cat "$place/said"; exit 1; }
grep -q '^as a loop: [0-9.]* cycles, bound by: [a-z]' "$place/said" || { cat "$place/said"; exit 1; }
if "$place/loop_costs" "$place/cpu.db" 4801 >"$place/out" 2>"$place/said"; then exit 1; fi
grep -q 'byte 0:' "$place/said"

make --no-print-directory -s BUILD="$build" PREFIX=/opt/probe DESTDIR="$place/root" uninstall
left=$(find "$place/root" -type f -o -type l)
if [[ -n $left ]]; then
    echo "install: uninstall left: $left"
    exit 1
fi
echo 'install: installed, used through pkg-config, example run, removed'
