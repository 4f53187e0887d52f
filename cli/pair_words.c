/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/pair_words.h"

#include <math.h>
#include <stdio.h>

static const char *plural(double count) {
    return count > 1.5 ? "s" : "";
}

static bool bounds_tell(const struct probe_pair *pair) {
    return pair->verdict == HX_VERDICT_OK && probe_pair_widths_known(pair) && pair->shared_most > 0;
}

const char *cli_pair_sharing(const struct probe_pair *pair, char *buffer, size_t size) {
    switch (pair->sharing) {
    case PROBE_SHARING_NONE:
        return probe_pair_widths_known(pair) ? "no port" : "nothing";
    case PROBE_SHARING_UNKNOWN:
        if (bounds_tell(pair)) {
            (void)snprintf(buffer, size, "at most %.0f port%s", pair->shared_most, plural(pair->shared_most));
            return buffer;
        }
        return pair->issue_limited ? "hidden by the issue width" : "unknown";
    case PROBE_SHARING_SOME:
    case PROBE_SHARING_ALL:
        break;
    }
    if (probe_pair_widths_known(pair) && pair->shared_width < pair->union_width) {
        (void)snprintf(buffer, size, "%.0f of %.0f ports", pair->shared_width, pair->union_width);
        return buffer;
    }
    return pair->sharing == PROBE_SHARING_ALL ? "all ports" : "some ports";
}

static void all_say(struct ip_text *text, const char *a, const char *b, const struct probe_pair *pair) {
    bool a_narrower = pair->sides[0].width < pair->sides[1].width;
    if (!probe_pair_widths_known(pair)) {
        ip_text_printf(
            text, "They share what holds them up, ports or a unit: together they take as long as one after "
                  "the other.\n");
    } else if (pair->sides[0].width == pair->sides[1].width) {
        ip_text_printf(text, "They share all ports: the %.0f of one %s the %.0f of the other.\n",
                       pair->sides[0].width, pair->sides[0].width > 1 ? "are" : "is", pair->sides[1].width);
    } else {
        ip_text_printf(text, "They share all ports that %s has: %.0f of the %.0f of %s.\n",
                       a_narrower ? a : b, pair->shared_width,
                       a_narrower ? pair->sides[1].width : pair->sides[0].width, a_narrower ? b : a);
    }
}

static void answer_say(struct ip_text *text, const char *a, const char *b, const struct probe_pair *pair) {
    switch (pair->sharing) {
    case PROBE_SHARING_NONE:
        ip_text_printf(text, probe_pair_widths_known(pair)
                                 ? "They share no port.\n"
                                 : "They share nothing that holds them up: together they take as "
                                   "long as the longer alone.\n");
        break;
    case PROBE_SHARING_SOME:
        if (probe_pair_widths_known(pair)) {
            ip_text_printf(text, "They share %.0f port%s, of %.0f that one or the other has.\n",
                           pair->shared_width, plural(pair->shared_width), pair->union_width);
        } else {
            ip_text_printf(text, "They share some of what holds them up; how many ports is not known.\n");
        }
        break;
    case PROBE_SHARING_ALL:
        all_say(text, a, b, pair);
        break;
    case PROBE_SHARING_UNKNOWN:
        if (bounds_tell(pair)) {
            ip_text_printf(text, "They share at most %.0f port%s, perhaps none: %s.\n", pair->shared_most,
                           plural(pair->shared_most), pair->why);
        } else {
            ip_text_printf(text, "Whether they share a port is not known: %s.\n", pair->why);
        }
        break;
    }
}

static void alone_say(struct ip_text *text, const char *name, double cycles, double width) {
    ip_text_printf(text, "%s takes %.2f cycles", name, cycles);
    if (width > 0) {
        ip_text_printf(text, ": %.0f port%s", width, plural(width));
    }
    ip_text_append(text, "\n");
}

/* `few`, `many`: the letters of the forms in the drawing. */
static void beside_say(struct ip_text *text, const struct probe_beside *beside, char few, char many) {
    if (beside->measured) {
        double confined = beside->confined > 0.005 ? beside->confined : 0; /* no -0.00 */
        ip_text_printf(text,
                       "  beside       %u %c among %u %c take %.2f cycles, the %c alone %.2f: %.2f of each "
                       "%c found room "
                       "only on the ports of %c\n",
                       beside->few, few, beside->many, many, beside->cycles, many, beside->base, confined,
                       few, many);
        ip_text_printf(text, "               %s\n", beside->drawing);
    }
}

void cli_pair_words(struct ip_text *text, const char *a, const char *b, const struct probe_pair *pair) {
    answer_say(text, a, b, pair);
    ip_text_append(text, "  alone        a = ");
    alone_say(text, a, pair->sides[0].cycles, pair->sides[0].width);
    ip_text_append(text, "               b = ");
    alone_say(text, b, pair->sides[1].cycles, pair->sides[1].width);
    if (pair->together_cycles > 0) {
        unsigned count = pair->sides[0].count + pair->sides[1].count;
        ip_text_printf(text,
                       "  interleaved  %u a and %u b take %.2f cycles; %.2f without a common port, %.2f with "
                       "all in common\n",
                       pair->sides[0].count, pair->sides[1].count, pair->together_cycles,
                       pair->expected_disjoint_cycles, pair->expected_shared_cycles);
        ip_text_printf(text, "               %s\n", pair->drawing);
        if (probe_pair_widths_known(pair)) {
            ip_text_printf(text, "               %u / %.2f = %.2f ports in all", count, pair->together_cycles,
                           count / pair->together_cycles);
            if (pair->issue_limited) {
                ip_text_printf(text, "; %.2f is all that is issued in a cycle", count / pair->issue_cycles);
            }
            ip_text_append(text, "\n");
        }
    }
    beside_say(text, &pair->sides[0].beside, 'a', 'b');
    beside_say(text, &pair->sides[1].beside, 'b', 'a');
}
