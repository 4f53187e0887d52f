# What the store knows, without measuring: text, csv, json, and the evidence.
isaprobe scan -q -t sim:tests/data/store/exact.sim -S "$T/cpu.db" "imul r64, r64" "popcnt r64, r64" "vpaddd ymm, ymm, ymm"
rounded() { sed -E 's/through .*spread/through VIA, spread/; s/([0-9]+|all) registers/N registers/; s/spread [0-9.]+ %/spread S %/; s/measured    [^,]*/measured    WHEN/'; }
isaprobe show -S "$T/cpu.db" IMUL popcnt vpaddd | rounded
isaprobe show -S "$T/cpu.db" --format json "imul r64, r64" | python3 -c '
import json, sys
row = json.loads(sys.stdin.read())
print(row["form"], row["isa"], round(row["throughput"], 2), round(row["slots"]), row["status"])
for pair in row["latency"]:
    print(pair["src"], pair["dst"], pair["path"], pair["cycles"] and round(pair["cycles"], 2), pair["bound"])'
isaprobe show -S "$T/cpu.db" --format csv popcnt | tr -d '\r' | cut -d, -f 1-4
isaprobe show -S "$T/cpu.db" --format csv popcnt "popcnt r64, r64" POPCNT | tr -d '\r' | cut -d, -f 1-3 # once
isaprobe show -S "$T/cpu.db" --evidence "imul r64, r64" | sed -n '1,6p' | sed -E 's/kernel [0-9a-f]{16}/kernel HASH/'
isaprobe show -S "$T/cpu.db" --evidence --format json "imul r64, r64" | python3 -c '
import json, sys
for line in sys.stdin:
    row = json.loads(line)
    print(row["fact"], row["verdict"], row["low_cycles"] <= row["cycles"] <= row["high_cycles"], row["unit"].split()[0])'
# A word that the reason begins with is told once.
for why in "unstable: 15 processes measured 2.0 to 6.0 cycles" "unstables differ"; do
    sqlite3 "$T/cpu.db" "UPDATE forms SET status = 'unstable', why = '$why' WHERE syntax = 'popcnt r64, r64'"
    isaprobe show -S "$T/cpu.db" "popcnt r64, r64" | head -n 1
done
