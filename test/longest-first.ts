import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Seconds of the files that take longest in a whole run; docs/testing.md says how to measure them. Only their order counts. */
const SECONDS: Readonly<Record<string, number>> = {
  'test/workflow/recovery/restore.test.ts': 357,
  'test/e2e/faults/crash-points.test.ts': 281,
  'test/e2e/owner.test.ts': 216,
  'test/browser/page-budget.test.ts': 187,
  'test/e2e/faults/stop-at-once.test.ts': 156,
  'test/e2e/faults/restore-crash.test.ts': 148,
  'test/e2e/commands/purge.test.ts': 150,
  'test/browser/console.test.ts': 136,
  'test/e2e/rolling-upgrade.test.ts': 119,
  'test/e2e/faults/sigkill.test.ts': 119,
  'test/e2e/bench.test.ts': 111,
  'test/e2e/faults/stopped-reader.test.ts': 110,
  'test/e2e/faults/stall.test.ts': 103,
  'test/e2e/faults/stop-while-ledger-hangs.test.ts': 82,
  'test/workflow/service-profile/service-families.test.ts': 102,
  'test/e2e/faults/crash-lane.test.ts': 99,
  'test/workflow/service-profile/wrong-profiles.test.ts': 83,
  'test/chaos/fault-matrix.test.ts': 79,
  'test/e2e/distributed.test.ts': 76,
  'test/e2e/faults/lost-namespace.test.ts': 65,
  'test/e2e/faults/failover.test.ts': 62,
  'test/e2e/faults/night-crash.test.ts': 75,
  'test/workflow/several-applications/several-applications.test.ts': 67,
  'test/workflow/several-applications/operated.test.ts': 65,
  'test/e2e/one-owner.test.ts': 61,
  'test/workflow/sending/access-denied.test.ts': 60,
  'test/workflow/sending/send-time.test.ts': 62,
  'test/e2e/commands/rehearse-command.test.ts': 56,
  'test/e2e/commands/confirm-service.test.ts': 54,
  'test/contract/runtime/temporal/temporal-server.test.ts': 54,
  'test/e2e/commands/operate-commands.test.ts': 53,
  'test/e2e/commands/first-contact.test.ts': 51,
  'test/chaos/database-faults.test.ts': 49,
  'test/workflow/operator/unusual-total.test.ts': 48,
  'test/browser/temporal-ui.test.ts': 46,
  'test/e2e/faults/stop-while-service-hangs.test.ts': 45,
  'test/workflow/changed-workflows.test.ts': 45,
  'test/e2e/commands/nightly-command.test.ts': 44,
  'test/workflow/sending/failures-count.test.ts': 43,
  'test/e2e/upgrade-one-machine.test.ts': 41,
  'test/contract/runtime/temporal/temporal-connection.test.ts': 41,
  'test/e2e/commands/run-command.test.ts': 39,
  'test/e2e/wrong-signature.test.ts': 37,
  'test/workflow/sending/sending-trouble.test.ts': 36,
  'test/workflow/nights/nightly-issuance.test.ts': 34,
  'test/e2e/commands/readme.test.ts': 34,
  'test/e2e/commands/confirm-total.test.ts': 30,
  'test/contract/deployment/chart.test.ts': 30,
  'test/e2e/separate-folders.test.ts': 28,
  'test/contract/drop/drop-crash.test.ts': 26,
  'test/workflow/recovery/stuck-run.test.ts': 24,
  'test/workflow/settling.test.ts': 24,
  'test/e2e/commands/declared-files.test.ts': 23,
  'test/contract/wiring/schedules/nightly-catch-up.test.ts': 23,
  'test/browser/find-invoice.test.ts': 23,
  'test/workflow/operator/control.test.ts': 23,
  'test/workflow/long-wait.test.ts': 23,
  'test/contract/ledger/ingest-schedules.test.ts': 23,
  'test/e2e/commands/bad-input.test.ts': 22,
  'test/contract/runtime/temporal/supervise-temporal.test.ts': 22,
  'test/contract/ledger/pglite.test.ts': 22,
  'test/contract/ledger/postgres-database.test.ts': 21,
  'test/contract/ledger/pglite-operating.test.ts': 21,
  'test/contract/activities/sending/submit-slice.test.ts': 21,
  'test/e2e/faults/worker-goodbye.test.ts': 20,
  'test/workflow/service-profile/profile-stops-sending.test.ts': 20,
  'test/contract/ingest/memory.test.ts': 19,
  'test/contract/ledger/pglite-database.test.ts': 19,
  'test/workflow/service-profile/sandbox-speaks.test.ts': 18,
  'test/workflow/operator/retry-invoices.test.ts': 18,
  'test/contract/ledger/released-ledgers.test.ts': 17,
  'test/workflow/recovery/claims.test.ts': 17,
  'test/workflow/history.test.ts': 17,
  'test/e2e/shared-limits.test.ts': 17,
  'test/workflow/operator/temporal-ui.test.ts': 17,
  'test/e2e/commands/find-command.test.ts': 17,
  'test/workflow/recovery/reports-folder.test.ts': 16,
  'test/contract/ledger/postgres-operating.test.ts': 16,
  'test/e2e/health.test.ts': 16,
  'test/workflow/reconciliation.test.ts': 15,
  'test/contract/wiring/account/shared-limits.test.ts': 15,
  'test/browser/map-columns.test.ts': 14,
  'test/contract/ledger/postgres.test.ts': 13,
  'test/workflow/sending/too-many-requests.test.ts': 13,
  'test/contract/wiring/doctor/doctor.test.ts': 13,
  'test/e2e/build.test.ts': 12,
  'test/e2e/corrected-file.test.ts': 12,
  'test/contract/ledger/postgres-faults.test.ts': 12,
  'test/workflow/nights/night-message.test.ts': 11,
  'test/contract/release/release.test.ts': 10,
};

/**
 * Runs long files before short ones: a long one that came last would keep all others waiting. They run project by project, because a worker keeps its
 * modules only for the next file of the same project.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return byProject(await super.sort(files));
  }
}

/** Of each project its longest file first, and the projects by their longest files. */
function byProject(files: readonly TestSpecification[]): TestSpecification[] {
  const projects = new Map<string, TestSpecification[]>();
  for (const file of files.toSorted(longerFirst)) {
    const { name } = file.project;
    projects.set(name, [...(projects.get(name) ?? []), file]);
  }
  return [...projects.values()].flat();
}

function longerFirst(a: TestSpecification, b: TestSpecification): number {
  return secondsOf(b) - secondsOf(a);
}

function secondsOf({ moduleId }: TestSpecification): number {
  const path = moduleId.slice(moduleId.lastIndexOf('/test/') + 1);
  return SECONDS[path] ?? 0;
}
