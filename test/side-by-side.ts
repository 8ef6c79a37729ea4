import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Seconds of the files that take longest in a whole run; docs/testing.md says how to measure them. They need not be exact. These wait for three quarters of
 * their time and more: for time-outs, restarts and slow services.
 */
const WAITING: Readonly<Record<string, number>> = {
  'test/workflow/recovery/restore.test.ts': 282,
  'test/e2e/faults/crash-points.test.ts': 267,
  'test/e2e/faults/restore-crash.test.ts': 161,
  'test/contract/wiring/doctor/doctor.test.ts': 141,
  'test/workflow/nights/nightly-issuance.test.ts': 119,
  'test/workflow/several-applications/several-applications.test.ts': 105,
  'test/e2e/faults/waiting-commands.test.ts': 97,
  'test/e2e/faults/stopped-reader.test.ts': 103,
  'test/chaos/fault-matrix.test.ts': 103,
  'test/workflow/service-profile/service-families.test.ts': 95,
  'test/e2e/commands/purge.test.ts': 91,
  'test/e2e/faults/stop-while-ledger-hangs.test.ts': 90,
  'test/e2e/faults/crash-lane.test.ts': 82,
  'test/e2e/distributed.test.ts': 72,
  'test/e2e/faults/lost-namespace.test.ts': 66,
  'test/e2e/rolling-upgrade.test.ts': 64,
  'test/workflow/sending/send-time.test.ts': 62,
  'test/e2e/faults/sigkill.test.ts': 61,
  'test/e2e/faults/night-crash.test.ts': 59,
  'test/chaos/database-faults.test.ts': 52,
  'test/e2e/commands/first-contact.test.ts': 52,
  'test/e2e/shared-limits.test.ts': 64,
  'test/e2e/commands/operate-commands.test.ts': 51,
  'test/contract/runtime/temporal/temporal-connection.test.ts': 50,
  'test/workflow/changed-workflows.test.ts': 48,
  'test/e2e/faults/stop-while-service-hangs.test.ts': 46,
  'test/workflow/recovery/stuck-run.test.ts': 44,
  'test/e2e/faults/renewed-certificate.test.ts': 43,
  'test/workflow/sending/failures-count.test.ts': 44,
  'test/workflow/sending/access-denied.test.ts': 42,
  'test/workflow/sending/sending-trouble.test.ts': 42,
  'test/e2e/one-owner.test.ts': 41,
  'test/workflow/long-wait.test.ts': 41,
  'test/e2e/wrong-signature.test.ts': 38,
  'test/workflow/recovery/reports-folder.test.ts': 38,
  'test/contract/runtime/temporal/supervise-temporal.test.ts': 37,
  'test/contract/ledger/older-ledger.test.ts': 37,
  'test/contract/runtime/temporal/repeated-calls.test.ts': 36,
  'test/contract/ledger/postgres-operating.test.ts': 36,
  'test/contract/ledger/postgres.test.ts': 34,
  'test/contract/ledger/postgres-faults.test.ts': 32,
  'test/contract/ledger/pglite-database.test.ts': 30,
  'test/workflow/settling.test.ts': 29,
  'test/e2e/faults/clock-jump.test.ts': 29,
  'test/workflow/recovery/failed-steps.test.ts': 28,
  'test/contract/wiring/schedules/nightly-catch-up.test.ts': 27,
  'test/workflow/service-profile/sandbox-speaks.test.ts': 27,
  'test/contract/deployment/chart.test.ts': 24,
  'test/workflow/recovery/claims.test.ts': 24,
  'test/e2e/commands/bad-input.test.ts': 23,
  'test/workflow/operator/typed-by-hand.test.ts': 23,
  'test/workflow/operator/control.test.ts': 22,
  'test/workflow/service-profile/profile-stops-sending.test.ts': 22,
  'test/contract/ledger/postgres-database.test.ts': 22,
  'test/workflow/several-applications/operated.test.ts': 21,
  'test/workflow/reconciliation.test.ts': 21,
  'test/e2e/health.test.ts': 21,
  'test/contract/activities/sending/submit-slice.test.ts': 20,
  'test/e2e/faults/worker-goodbye.test.ts': 20,
  'test/e2e/commands/run-command.test.ts': 20,
  'test/e2e/commands/find-command.test.ts': 18,
  'test/workflow/merchants.test.ts': 16,
  'test/workflow/operator/temporal-ui.test.ts': 16,
  'test/workflow/nights/night-message.test.ts': 15,
  'test/contract/wiring/account/shared-limits.test.ts': 15,
  'test/contract/activities/settling/reconcile.test.ts': 14,
  'test/workflow/recovery/lost-runs.test.ts': 14,
  'test/e2e/fleet-of-a-test.test.ts': 13,
  'test/workflow/operator/retry-invoices.test.ts': 13,
  'test/workflow/sending/too-many-requests.test.ts': 12,
  'test/workflow/recovery/cancelled-run.test.ts': 10,
  'test/workflow/history-size.test.ts': 10,
};

/** These compute for more of it. They run in this order: those that compute most, and the longest, come first. */
const COMPUTING: Readonly<Record<string, number>> = {
  'test/browser/temporal-ui.test.ts': 27,
  'test/browser/page-budget.test.ts': 98,
  'test/browser/console.test.ts': 38,
  'test/e2e/build.test.ts': 34,
  'test/e2e/commands/readme.test.ts': 41,
  'test/e2e/owner.test.ts': 114,
  'test/workflow/service-profile/wrong-profiles.test.ts': 104,
  'test/e2e/faults/stop-at-once.test.ts': 91,
  'test/contract/ledger/pglite.test.ts': 33,
  'test/contract/ledger/pglite-operating.test.ts': 38,
  'test/contract/ingest/memory.test.ts': 23,
  'test/contract/runtime/temporal/temporal-server.test.ts': 45,
  'test/e2e/commands/rehearse-command.test.ts': 53,
  'test/e2e/bench.test.ts': 41,
  'test/e2e/faults/stall.test.ts': 58,
  'test/workflow/operator/unusual-total.test.ts': 22,
  'test/e2e/commands/confirm-total.test.ts': 14,
  'test/contract/ledger/released-ledgers.test.ts': 28,
  'test/browser/find-invoice.test.ts': 27,
  'test/e2e/separate-folders.test.ts': 14,
  'test/e2e/commands/nightly-command.test.ts': 26,
  'test/e2e/upgrade-one-machine.test.ts': 21,
  'test/workflow/history.test.ts': 16,
  'test/contract/release/release.test.ts': 38,
  'test/e2e/commands/declared-files.test.ts': 24,
  'test/contract/ledger/pglite-durability.test.ts': 7,
  'test/e2e/corrected-file.test.ts': 18,
  'test/e2e/faults/failover.test.ts': 32,
  'test/e2e/commands/confirm-service.test.ts': 30,
};
/** Of a file that is in neither; it computes, too. It is twice what they take on average, so that the last files of a run are short ones. */
const SHORT_SECONDS = 7;

/** From so many seconds on, a file of the first table waits for nearly all of its time; shorter ones compute for more of it. */
const LONG_SECONDS = 45;

/**
 * Of ten files at a time, so many would be of each kind. With waiting ones alone, cores are idle; with computing
 * ones alone, each takes longer. The long ones come to their end first, short ones last.
 */
const AT_ONCE = { long: 5, waiting: 2, computing: 2, short: 1 } as const;

/**
 * Runs files that wait beside files that compute, and long files before short ones, since a long one that came last would keep all others waiting. They run
 * project by project, because a worker keeps its modules only for the next file of the same project.
 */
export class SideBySide extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const projects = new Map<string, TestSpecification[]>();
    for (const file of await super.sort(files)) {
      const { name } = file.project;
      projects.set(name, [...(projects.get(name) ?? []), file]);
    }
    return [...projects.values()].toSorted((a, b) => longestOf(b) - longestOf(a)).flatMap(sideBySide);
  }
}

/** In the order in which they would start if each kind had its own workers. */
function sideBySide(files: readonly TestSpecification[]): readonly TestSpecification[] {
  const longestFirst = files.toSorted((a, b) => secondsOf(b) - secondsOf(a));
  const places = Object.keys(COMPUTING);
  const waiting = longestFirst.filter((file) => pathOf(file) in WAITING);
  const isLong = (file: TestSpecification): boolean => secondsOf(file) >= LONG_SECONDS;
  const computing = files
    .filter((file) => pathOf(file) in COMPUTING)
    .toSorted((a, b) => places.indexOf(pathOf(a)) - places.indexOf(pathOf(b)));
  const short = files.filter((file) => !(pathOf(file) in WAITING) && !(pathOf(file) in COMPUTING));
  return [
    ...starts(waiting.filter(isLong), AT_ONCE.long),
    ...starts(
      waiting.filter((file) => !isLong(file)),
      AT_ONCE.waiting,
    ),
    ...starts(computing, AT_ONCE.computing),
    ...starts(short, AT_ONCE.short),
  ]
    .toSorted((a, b) => a.at - b.at)
    .map(({ file }) => file);
}

/** When each of them would start, in seconds, if so many ran at a time. */
function starts(files: readonly TestSpecification[], atOnce: number) {
  const free = Array.from({ length: atOnce }, () => 0);
  return files.map((file) => {
    const at = Math.min(...free);
    free[free.indexOf(at)] = at + secondsOf(file);
    return { file, at };
  });
}

function longestOf(files: readonly TestSpecification[]): number {
  return Math.max(...files.map(secondsOf));
}

function secondsOf(file: TestSpecification): number {
  const path = pathOf(file);
  return WAITING[path] ?? COMPUTING[path] ?? SHORT_SECONDS;
}

function pathOf({ moduleId }: TestSpecification): string {
  return moduleId.slice(moduleId.lastIndexOf('/test/') + 1);
}
