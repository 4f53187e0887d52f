#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Opens every export with a program that is made for it. A program that is not installed is named, and its
# check left out.
#   tests/clients.sh PROGRAM [STORE]
# Without STORE: forms of every kind, measured on a simulated CPU.
set -uo pipefail

program=$1
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
store=${2-}
failed=0

complain() {
    echo "clients: $1"
    failed=1
}

# has TOOL CHECK: is the tool there? If not, says what is left out.
has() {
    command -v "$1" >/dev/null && return
    echo "clients: skipped: $2 ($1 is not installed)"
    return 1
}

if [[ -z $store ]]; then
    store=$place/cpu.db
    "$program" scan -q --parts latency,throughput,slots,ports -t sim:tests/data/everything.sim -S "$store" \
        add imul vaddpd mov lea adc stosq jz paddd vmovapd mul shl kaddb vpermd vhaddpd popcnt cmc fadd bswap xchg \
        vpgatherdd
    status=$? # 4: some values are not to be trusted, which is nothing to this test
    ((status == 0 || status == 4)) || complain 'no store'
fi
for format in uopsinfo-xml osaca llvm-exegesis llvm-sched-json maqao-lua csv json; do
    case $format in
    llvm-*) has llvm-mc "$format" || continue ;;
    esac
    "$program" export -q --format "$format" -S "$store" -o "$place/$format" || complain "$format: not written"
done
forms=$(($(wc -l <"$place/csv") - 1))
((forms > 30)) || complain "only $forms forms"

if has xmllint 'XML against its schema'; then
    xmllint --noout --schema docs/uopsinfo.xsd "$place/uopsinfo-xml" 2>"$place/words" || complain "$(head -3 "$place/words")"
    count=$(xmllint --xpath 'count(//instruction[architecture/measurement])' "$place/uopsinfo-xml")
    ((count == forms)) || complain "xmllint sees $count of $forms instructions"
fi

if has python3 'the XML as uiCA and OSACA read it, YAML'; then
    # The attributes that uiCA's convertXML.py and OSACA's model_importer.py take without asking, and how they
    # convert them.
    python3 - "$place/uopsinfo-xml" "$forms" <<'END' || complain 'uiCA and OSACA would stumble over the XML'
import sys, xml.etree.ElementTree as ET
seen = 0
for instruction in ET.parse(sys.argv[1]).getroot().iter('instruction'):
    for key in ('iform', 'string', 'category', 'asm', 'iclass', 'extension'):
        instruction.attrib[key]
    names = {o.attrib['idx']: o.attrib['name'] for o in instruction.iter('operand')}
    for operand in instruction.iter('operand'):
        assert operand.attrib.get('suppressed') == '1' or operand.attrib['type'] in ('reg', 'mem', 'imm', 'agen', 'relbr')
        assert operand.attrib['type'] != 'reg' or operand.text
    measurement = instruction.find('./architecture[@name="isaprobe"]/measurement')
    float(measurement.attrib.get('TP_loop', 0)), int(measurement.attrib.get('uops', 0))
    for term in measurement.attrib.get('ports', '').split('+'):
        if term:
            count, ports = term.split('*')
            int(count)
            assert ports[0] == 'p'
    for latency in measurement.iter('latency'):
        names[latency.attrib['start_op']], names[latency.attrib['target_op']]
        assert any(k.startswith('cycles') for k in latency.attrib)
        [int(v) for k, v in latency.attrib.items() if k.startswith('cycles')]
    seen += 1
assert seen == int(sys.argv[2]), seen
END
    if python3 -c 'import yaml' 2>/dev/null; then
        python3 - "$place/osaca" <<'END' || complain 'OSACA would stumble over the YAML'
import sys, yaml
model = yaml.safe_load(open(sys.argv[1]))
ports = model['ports']
assert model['isa'] == 'x86' and ports
for form in model['instruction_forms']:
    assert isinstance(form['name'], str)
    for operand in form['operands']:
        assert operand['class'] in ('register', 'memory', 'immediate', 'identifier')
    for cycles, where in form['port_pressure'] or []:
        assert cycles > 0 and all(port in ports for port in where)
    for key in ('latency', 'throughput', 'uops'):
        assert form[key] is None or float(form[key]) >= 0
assert model['load_latency']['gpr'] > 1 and model['load_throughput_default'] and model['store_throughput_default']
assert len(model['instruction_forms']) > 20
END
    else
        echo 'clients: skipped: OSACA machine file (python3-yaml is not installed)'
    fi
fi

if [[ -e $place/llvm-exegesis ]] && has llvm-exegesis 'llvm-exegesis --mode=analysis'; then
    for mode in latency throughput uops; do
        "$program" export -q --format llvm-exegesis --exegesis-mode $mode -S "$store" -o "$place/$mode.yaml"
        points=$(grep -c '^---' "$place/$mode.yaml")
        ((points == 0)) && continue # the store has no such facts
        llvm-exegesis --mode=analysis --benchmarks-file="$place/$mode.yaml" --analysis-clustering=naive \
            --analysis-clusters-output-file="$place/clusters" --analysis-inconsistencies-output-file="$place/report.html" \
            >"$place/words" 2>&1 || complain "llvm-exegesis: $(tail -1 "$place/words")"
        grep -q "Parsed $points benchmark points" "$place/words" || complain "llvm-exegesis read other than $points points"
        grep -q '</html>' "$place/report.html" || complain "llvm-exegesis wrote no report of $mode"
        rows=$(grep -c '^[0-9]' "$place/clusters")
        ((rows == points)) || complain "llvm-exegesis clustered $rows of $points points of $mode"
    done
fi

# The whole table, each form with a throughput of one cycle: what a complete scan would export.
if [[ -e $place/llvm-exegesis ]] && has sqlite3 'a whole table' && has llvm-exegesis 'a whole table'; then
    cp "$store" "$place/whole.db"
    "$program" list --format csv | tr -d '\r' >"$place/forms.csv"
    sqlite3 "$place/whole.db" '.mode csv' 'CREATE TEMP TABLE given(form, isa)' ".import --skip 1 $place/forms.csv given" \
        "DELETE FROM throughput; DELETE FROM latency; DELETE FROM forms" \
        "INSERT INTO forms(syntax, mnemonic, extension, isa_set, parts, status, why, run_id)
            SELECT form, '', isa, '', 2, 'ok', '', 1 FROM given" \
        "INSERT INTO throughput(form_id, cycles, spread, verdict, registers, how, why, run_id)
            SELECT id, 1, 0, 'ok', 1, '', '', 1 FROM forms" || complain 'no whole store'
    whole=$(sqlite3 "$place/whole.db" 'SELECT count(*) FROM forms')
    "$program" export -q --format llvm-exegesis --exegesis-mode throughput -S "$place/whole.db" -o "$place/whole.yaml"
    points=$(grep -c '^---' "$place/whole.yaml")
    ((points * 100 >= whole * 99)) || complain "LLVM names only $points of $whole forms"
    llvm-exegesis --mode=analysis --benchmarks-file="$place/whole.yaml" --analysis-clusters-output-file="$place/clusters" \
        --analysis-inconsistencies-output-file="$place/report.html" >"$place/words" 2>&1 ||
        complain "llvm-exegesis: $(tail -1 "$place/words")"
    grep -q "Parsed $points benchmark points" "$place/words" || complain "llvm-exegesis read other than $points points"
    grep -q '</html>' "$place/report.html" || complain 'llvm-exegesis wrote no report of a whole table'
    if has xmllint 'a whole table as XML'; then
        "$program" export -q -S "$place/whole.db" -o "$place/whole.xml"
        xmllint --noout --schema docs/uopsinfo.xsd "$place/whole.xml" 2>"$place/words" || complain "$(head -3 "$place/words")"
    fi
    echo "clients: $points of $whole forms of the whole table through llvm-exegesis"
fi

if has jq 'JSON'; then
    count=$(jq -e 'select(.form and .isa and .latency and .status)' "$place/json" | jq -s length)
    ((count == forms)) || complain "jq sees $count of $forms forms"
    if [[ -e $place/llvm-sched-json ]]; then
        # What schedtool's parser asserts.
        jq -e 'to_entries | length > 20 and all(.value | (.SchedReads | type) == "array" and (.SchedWrites | type) == "array"
            and (.Latency == null or .Latency == (.Latency | floor))
            and (.Port == null or (.Port | all(.[0] > 0 and (.[1] | length) > 0))))' \
            "$place/llvm-sched-json" >/dev/null || complain 'schedtool would stumble over the JSON'
    fi
fi

if has lua5.4 'MAQAO CQA table'; then
    lua5.4 - "$place/maqao-lua" "$forms" <<'END' || complain 'CQA would stumble over the Lua file'
dofile(arg[1])
assert(#isaprobe_forms == tonumber(arg[2]))
for _, form in ipairs(isaprobe_forms) do
   local entry = assert(__insn_ext_bypass[form.mnemonic])
   if form.rcpt then assert(entry.rcpt.min <= form.rcpt and form.rcpt <= entry.rcpt.max) end
   if form.latency then
      assert(entry.latency.min <= form.latency.min and form.latency.max <= entry.latency.max)
   end
   for _, group in pairs(entry.uops_groups or {}) do assert(group[1] > 0 and #group[2] > 0) end
end
END
fi

if ((failed)); then
    exit 1
fi
echo "clients: $forms forms in every format, opened"
