#!/bin/bash
# SPDX-License-Identifier: MIT
# tear_down_test.sh PROGRAM: a test of Criterion fails if its tear-down does.
# shellcheck source=tests/support/expect.sh
. "$(dirname "$0")/../../support/expect.sh"

judge() # CODE WORDS SUITE
{
    expect "$1" "$2" "$program" --filter="$3/*"
}

program=$1
judge 0 "Tested: 1 | Passing: 1 | Failing: 0" pass
judge 0 "Tested: 1 | Passing: 1 | Failing: 0" exit_code
judge 0 "Tested: 1 | Passing: 1 | Failing: 0" signal
judge 1 "assert_wrongly/is_judged failed after the test: 1 assertions" assert_wrongly
judge 1 "expect_wrongly/is_judged failed after the test: 1 assertions" expect_wrongly
judge 1 "end_late/is_judged failed after the test: 0 assertions, exit code 3" end_late
judge 1 "1 of 1 tear-downs ended their process" end
judge 1 "1 of 1 tear-downs ended their process" abort
judge 1 "no test has this name" another
[ "$failures" -eq 0 ]
