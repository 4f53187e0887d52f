# The SQL of docs/store.md runs as it stands, and every table and column that the schema has is described there.
isaprobe scan -q -t sim:tests/data/store/exact.sim -S "$T/cpu.db" "imul r64, r64" "imul r32, r32" "popcnt r64, r64" \
    "bsf r64, r64" sysret "vpaddd ymm, ymm, ymm" "add r64, r64"
sed -n '/^```sql/,/^```/p' docs/store.md | sed -E 's/^```sql/SELECT \x27\x27;/; /^```/d' >"$T/queries"
grep -c "SELECT '';" "$T/queries"
sqlite3 -bail -header "$T/cpu.db" <"$T/queries" | grep -v "^''$"
sqlite3 "$T/cpu.db" "SELECT m.name || '.' || c.name FROM sqlite_master m JOIN pragma_table_info(m.name) c
    WHERE m.type IN ('table', 'view')" | while IFS=. read -r table column; do
    line=$(grep -E "^\| \`$table\` " docs/store.md || grep -F -A 2 "The view \`$table\`" docs/store.md)
    [[ $line == *"\`$column\`"* || $table.$column =~ ^machine.id$ ]] || echo "not in docs/store.md: $table.$column"
done
