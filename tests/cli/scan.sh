# A scan fills the store, a second one finds nothing to do, and what is asked beyond that is measured.
sim=sim:tests/data/store/exact.sim
isaprobe scan -t $sim -S "$T/cpu.db" --no-latency "imul r64, r64" "popcnt r64, r64" "bsf r64, r64" sysret
isaprobe scan -t $sim -S "$T/cpu.db" --no-latency "imul r64, r64"
isaprobe scan -t $sim -S "$T/cpu.db" "imul r64, r64"
isaprobe scan -t $sim -S "$T/cpu.db" --force "imul r64, r64"
printf '# a comment\nimul r64, r64\n\n  vpaddd ymm, ymm, ymm  # of AVX2\nVPADDQ\n' >"$T/list"
isaprobe scan -t $sim -S "$T/cpu.db" --list "$T/list" --extension avx2 --quiet
sqlite3 "$T/cpu.db" "SELECT syntax, extension, parts, status FROM forms;
    SELECT id, outcome, selection, timer FROM runs; PRAGMA integrity_check" | sed "s#$PWD/##"
ls "$T"
