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
    count=$(xmllint --xpath 'count(//instruction[architecture/measurement][not(@also)])' "$place/uopsinfo-xml")
    ((count == forms)) || complain "xmllint sees $count of $forms instructions"
fi

if has python3 'the XML as uiCA and OSACA read it, YAML'; then
    # What uiCA's convertXML.py and OSACA's model_importer.py take from the file, with their conversions, and what
    # uiCA's look-up then compares.
    python3 - "$place/uopsinfo-xml" "$forms" <<'END' || complain 'uiCA or OSACA would stumble over the XML'
import sys, xml.etree.ElementTree as ET
root = ET.parse(sys.argv[1]).getroot()

# uiCA: instructions by their iform; the first whose attributes are those of the code is taken.
distinctions = ('agen', 'bcast', 'eosz', 'high8', 'immzero', 'mask', 'rep', 'sae', 'zeroing')
by_iform, own = {}, 0
for instruction in root.iter('instruction'):
    iform, string, category = (instruction.attrib[key] for key in ('iform', 'string', 'category'))
    key = tuple(instruction.attrib.get(k) for k in distinctions)
    names = {o.attrib['idx']: o.attrib['name'] for o in instruction.iter('operand') if 'name' in o.attrib}
    assert len(set(names.values())) == len(names), string
    flags = instruction.find('./operand[@type="flags"]')
    for flag in 'ACOPSZ' if flags is not None else '':
        assert flags.attrib.get('flag_' + flag + 'F', '') in ('', 'r', 'w', 'r/w', 'cw', 'r/cw')
    measurement = instruction.find('./architecture[@name="isaprobe"]/measurement')
    for attribute in ('uops', 'uops_retire_slots', 'div_cycles'):
        int(measurement.attrib.get(attribute, 0))
    int(float(measurement.attrib.get('TP_loop', 0))), int(float(measurement.attrib.get('TP_unrolled', 0)))
    ports = measurement.attrib.get('ports')
    assert ports is None or sum(int(n) for n, p in (term.split('*') for term in ports.split('+'))) == int(measurement.attrib['uops'])
    latencies = {}
    for latency in measurement.iter('latency'):
        pair = names[latency.attrib['start_op']], names[latency.attrib['target_op']]
        for attribute, kind in (('cycles', ''), ('cycles_same_reg', 'same'), ('min_cycles', ''), ('cycles_addr', 'addr'),
                                ('cycles_addr_index', 'index'), ('cycles_mem', 'mem'), ('max_cycles', 'max')):
            if attribute in latency.attrib:
                latencies[pair + (kind,)] = int(latency.attrib[attribute])
    assert len(latencies) >= len(measurement.findall('latency')), string
    by_iform.setdefault(iform, []).append((key, string, latencies))
    own += 'also' not in instruction.attrib
assert own == int(sys.argv[2]), own
twins = [v for same in by_iform.values() for v in same if [k for k, _, _ in same].count(v[0]) > 1]
# A form with a fixed register or a value of its own is the same instruction to uiCA.
assert len(twins) * 16 < own, twins[:5]
for iform, pair in (('ADD_GPRv_GPRv_01', ('REG1', 'REG0', '')), ('ADD_GPRv_GPRv_03', ('REG1', 'REG0', '')),
                    ('ADD_GPRv_MEMv', ('MEM0', 'REG0', 'addr')), ('LEA_GPRv_AGEN', ('AGEN', 'REG0', 'addr')),
                    ('VADDPD_YMMqq_YMMqq_YMMqq', ('REG2', 'REG0', '')), ('ADC_GPRv_GPRv_11', ('REG2', 'REG0', ''))):
    assert any(pair in latencies for _, _, latencies in by_iform[iform]), (iform, by_iform[iform])

# OSACA: by mnemonic, operands in AT&T order; names of two words are passed over.
taken = set()
for instruction in root.findall('.//instruction'):
    if ' ' in instruction.attrib['asm']:
        continue
    operands = []
    for operand in sorted(instruction.findall('operand'), key=lambda o: int(o.attrib['idx'])):
        if int(operand.attrib.get('suppressed', '0')):
            continue
        kind = operand.attrib['type']
        assert kind in ('reg', 'mem', 'imm', 'agen', 'relbr'), kind
        operands.append(operand.text.split(',')[0] if kind == 'reg' else kind)
        assert operands[-1]
    measurement = instruction.find('architecture[@name="isaprobe"]').find('measurement')
    if 'ports' in measurement.attrib:
        for term in measurement.attrib['ports'].split('+'):
            cycles, ports = term.split('*')
            assert int(cycles) > 0 and ports.lstrip('p').isalnum()
        float(measurement.attrib['TP_ports'])
    int(measurement.attrib.get('uops', 0))
    [int(l.attrib[k]) for l in measurement.iter('latency') for k in ('cycles', 'max_cycles') if k in l.attrib]
    taken.add((instruction.attrib['asm'], tuple(reversed(operands))))
assert ('ADD', ('mem', 'RAX')) in taken and len(taken) > 100, len(taken)
END
    if python3 -c 'import yaml' 2>/dev/null; then
        python3 - "$place/osaca" <<'END' || complain 'OSACA would stumble over the YAML'
import sys, yaml
model = yaml.safe_load(open(sys.argv[1]))
ports = model['ports']
assert model['isa'] == 'x86' and ports
by_name = {}
for form in model['instruction_forms']:
    for name in form['name'] if isinstance(form['name'], list) else [form['name']]:
        assert isinstance(name, str)
        by_name.setdefault(name, []).append(form)
    for operand in form['operands']:
        assert operand['class'] in ('register', 'memory', 'immediate', 'identifier')
    for cycles, where in form['port_pressure']: # OSACA runs over it without a look
        assert cycles > 0 and all(port in ports for port in where)
    for key in ('latency', 'throughput', 'uops'):
        assert form[key] is None or float(form[key]) >= 0
# Of two with the same name and operands OSACA finds but one.
for name, forms in by_name.items():
    assert len({repr(form['operands']) for form in forms}) == len(forms), name
# Compilers' names, one letter for the size taken off.
assert all(name in by_name for name in ('je', 'sal', 'jz', 'shl', 'movabs')), sorted(by_name)
# Of a load with an operation what its register waits, not what its address does.
latencies = {form['isaprobe']: form['latency'] for form in model['instruction_forms']}
assert latencies['add r64, m64'] < 2 and 2 < latencies['imul r64, m64'] < 4, latencies
keys = ('osaca_version', 'micro_architecture', 'arch_code', 'ROB_size', 'retired_uOps_per_cycle', 'scheduler_size',
        'hidden_loads', 'port_model_scheme')
assert all(key in model for key in keys)
assert model['load_latency']['gpr'] > 1 and model['load_throughput_default'] and model['store_throughput_default']
for table, register in (('load_throughput', 'dst'), ('store_throughput', 'src')):
    assert any(entry[register] == 'gpr' for entry in model[table])
    for entry in model[table]:
        assert all(entry[key] == '*' for key in ('base', 'index', 'offset', 'scale'))
        assert all(cycles > 0 and all(port in ports for port in where) for cycles, where in entry['port_pressure'])
assert len(model['instruction_forms']) > 20
END
    else
        echo 'clients: skipped: OSACA machine file (python3-yaml is not installed)'
    fi
fi

# exegesis SUFFIX STORE MODE: exports for that version of LLVM, lets its analysis read the file and write its report.
# Sets points.
exegesis() {
    points=0
    if ! ISAPROBE_LLVM_MC=llvm-mc$1 "$program" export -q --format llvm-exegesis --exegesis-mode "$3" -S "$2" \
        -o "$place/points.yaml" 2>"$place/words"; then
        # A store that was given may have no such facts.
        grep -q 'none of the' "$place/words" || complain "no export for llvm-mc$1: $(head -1 "$place/words")"
        return
    fi
    points=$(grep -c '^---' "$place/points.yaml")
    rm -f "$place/report.html" "$place/clusters"
    llvm-exegesis"$1" --mode=analysis --benchmarks-file="$place/points.yaml" --analysis-clustering=naive \
        --analysis-clusters-output-file="$place/clusters" --analysis-inconsistencies-output-file="$place/report.html" \
        >"$place/words" 2>&1 || complain "llvm-exegesis$1: $(tail -1 "$place/words")"
    grep -q "Parsed $points benchmark points" "$place/words" || complain "llvm-exegesis$1 read other than $points points"
    if grep -q -i -E 'error|unknown opcode|invalid' "$place/words"; then
        complain "llvm-exegesis$1: $(grep -i -E 'error|unknown opcode|invalid' "$place/words" | head -1)"
    fi
    grep -q '</html>' "$place/report.html" || complain "llvm-exegesis$1 wrote no report of $3"
    rows=$(grep -c '^[0-9]' "$place/clusters")
    ((rows == points)) || complain "llvm-exegesis$1 clustered $rows of $points points of $3"
}

# Debian's LLVM and the newest one that is installed beside it.
newest=$(compgen -c llvm-exegesis- | grep -x 'llvm-exegesis-[0-9]*' | sort -t- -k3 -n | tail -1)
versions=('')
[[ -n $newest ]] && command -v "llvm-mc${newest#llvm-exegesis}" >/dev/null && versions+=("${newest#llvm-exegesis}")

if [[ -e $place/llvm-exegesis ]] && has llvm-exegesis 'llvm-exegesis --mode=analysis'; then
    for version in "${versions[@]}"; do
        for mode in latency throughput uops; do
            exegesis "$version" "$store" $mode
        done
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
    # What is newer than Debian 12's LLVM (docs/isa.md, "Newer than Zydis") need not be named.
    old=$(sqlite3 "$place/whole.db" "SELECT count(*) FROM forms WHERE extension NOT IN ('AVX_IFMA', 'AVX_NE_CONVERT',
        'AVX_VNNI_INT8', 'AVX_VNNI_INT16', 'CMPCCXADD', 'SHA512', 'SM3', 'SM4', 'AMX_FP16', 'AMX_COMPLEX', 'RAO_INT')")
    for version in "${versions[@]}"; do
        exegesis "$version" "$place/whole.db" throughput
        ((points * 100 >= old * 99)) || complain "llvm-mc$version names only $points of $whole forms"
        echo "clients: $points of $whole forms of the whole table through llvm-exegesis$version"
    done
    if has xmllint 'a whole table as XML'; then
        "$program" export -q -S "$place/whole.db" -o "$place/whole.xml"
        xmllint --noout --schema docs/uopsinfo.xsd "$place/whole.xml" 2>"$place/words" || complain "$(head -3 "$place/words")"
    fi
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
   -- What a prefix or a segment register makes of a mnemonic is no part of its costs.
   local other = form.form:match("^lock ") or form.form:match("^rep") or form.form:match("sreg")
   assert((form.mnemonic == nil) == (other ~= nil))
   local entry = __insn_ext_bypass[form.mnemonic or ""]
   assert((entry == nil) == (form.mnemonic == nil))
   if entry and form.rcpt then assert(entry.rcpt.min <= form.rcpt and form.rcpt <= entry.rcpt.max) end
   if entry and form.latency then
      assert(entry.latency.min <= form.latency.min and form.latency.max <= entry.latency.max)
   end
   for _, group in pairs(entry and entry.uops_groups or {}) do assert(group[1] > 0 and #group[2] > 0) end
end
END
fi

if ((failed)); then
    exit 1
fi
echo "clients: $forms forms in every format, opened"
