import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Seconds of the files that take longest in a whole run; docs/testing.md says how to measure them. Only their order counts. */
const SECONDS: Readonly<Record<string, number>> = {
  'test/e2e/faults/crash-points.test.ts': 269,
  'test/workflow/recovery/restore.test.ts': 263,
  'test/e2e/faults/restore-crash.test.ts': 157,
  'test/chaos/fault-matrix.test.ts': 150,
  'test/e2e/owner.test.ts': 126,
  'test/workflow/nights/nightly-issuance.test.ts': 124,
  'test/e2e/commands/purge.test.ts': 107,
  'test/e2e/faults/stopped-reader.test.ts': 106,
  'test/workflow/service-profile/service-families.test.ts': 100,
  'test/e2e/faults/stop-at-once.test.ts': 97,
  'test/contract/ledger/pglite-operating.test.ts': 89,
  'test/e2e/faults/crash-lane.test.ts': 84,
  'test/e2e/faults/stop-while-ledger-hangs.test.ts': 82,
  'test/e2e/faults/sigkill.test.ts': 78,
  'test/chaos/database-faults.test.ts': 78,
  'test/workflow/service-profile/wrong-profiles.test.ts': 70,
  'test/e2e/distributed.test.ts': 67,
  'test/e2e/faults/lost-namespace.test.ts': 66,
  'test/e2e/rolling-upgrade.test.ts': 65,
  'test/e2e/commands/operate-commands.test.ts': 64,
  'test/contract/ledger/pglite.test.ts': 63,
  'test/workflow/changed-workflows.test.ts': 62,
  'test/workflow/sending/send-time.test.ts': 61,
  'test/e2e/faults/stall.test.ts': 60,
  'test/contract/wiring/doctor/doctor.test.ts': 59,
  'test/workflow/operator/unusual-total.test.ts': 58,
  'test/e2e/faults/night-crash.test.ts': 57,
  'test/e2e/commands/first-contact.test.ts': 57,
  'test/workflow/recovery/stuck-run.test.ts': 57,
  'test/e2e/commands/rehearse-command.test.ts': 55,
  'test/contract/ingest/memory.test.ts': 55,
  'test/e2e/bench.test.ts': 52,
  'test/workflow/sending/failures-count.test.ts': 52,
  'test/contract/ledger/postgres-operating.test.ts': 50,
  'test/workflow/sending/sending-trouble.test.ts': 50,
  'test/contract/runtime/temporal/temporal-connection.test.ts': 49,
  'test/e2e/faults/stop-while-service-hangs.test.ts': 48,
  'test/contract/release/release.test.ts': 47,
  'test/contract/runtime/temporal/temporal-server.test.ts': 47,
  'test/workflow/several-applications/several-applications.test.ts': 47,
  'test/e2e/commands/nightly-command.test.ts': 47,
  'test/workflow/sending/access-denied.test.ts': 46,
  'test/contract/ledger/postgres.test.ts': 45,
  'test/e2e/commands/readme.test.ts': 45,
  'test/workflow/settling.test.ts': 43,
  'test/e2e/wrong-signature.test.ts': 43,
  'test/contract/drop/drop-crash.test.ts': 42,
  'test/workflow/long-wait.test.ts': 42,
  'test/workflow/service-profile/sandbox-speaks.test.ts': 41,
  'test/workflow/history.test.ts': 40,
  'test/contract/runtime/temporal/supervise-temporal.test.ts': 37,
  'test/browser/console.test.ts': 37,
  'test/contract/activities/sending/submit-slice.test.ts': 37,
  'test/workflow/recovery/claims.test.ts': 35,
  'test/contract/ledger/postgres-faults.test.ts': 35,
  'test/e2e/upgrade-one-machine.test.ts': 30,
  'test/workflow/operator/temporal-ui.test.ts': 30,
  'test/e2e/one-owner.test.ts': 29,
  'test/contract/ledger/released-ledgers.test.ts': 29,
  'test/workflow/recovery/reports-folder.test.ts': 28,
  'test/e2e/commands/confirm-service.test.ts': 28,
  'test/browser/temporal-ui.test.ts': 27,
  'test/e2e/commands/declared-files.test.ts': 27,
  'test/e2e/commands/bad-input.test.ts': 27,
  'test/contract/deployment/chart.test.ts': 26,
  'test/contract/ledger/postgres-database.test.ts': 26,
  'test/browser/page-budget.test.ts': 25,
  'test/workflow/recovery/failed-steps.test.ts': 25,
  'test/e2e/health.test.ts': 25,
  'test/e2e/faults/clock-jump.test.ts': 25,
  'test/contract/wiring/schedules/nightly-catch-up.test.ts': 24,
  'test/e2e/shared-limits.test.ts': 24,
  'test/workflow/operator/typed-by-hand.test.ts': 24,
  'test/workflow/operator/retry-invoices.test.ts': 23,
  'test/workflow/several-applications/operated.test.ts': 22,
  'test/contract/wiring/schedules/ensure-schedules.test.ts': 22,
  'test/contract/ledger/ingest-schedules.test.ts': 22,
  'test/workflow/operator/control.test.ts': 22,
  'test/e2e/commands/confirm-total.test.ts': 22,
  'test/contract/ledger/older-ledger.test.ts': 22,
  'test/workflow/merchants.test.ts': 21,
  'test/e2e/separate-folders.test.ts': 20,
  'test/e2e/build.test.ts': 19,
  'test/workflow/service-profile/profile-stops-sending.test.ts': 18,
  'test/e2e/faults/failover.test.ts': 15,
  'test/contract/wiring/worker/workflow-bundle.test.ts': 15,
  'test/e2e/corrected-file.test.ts': 15,
  'test/contract/activities/settling/reconcile.test.ts': 15,
  'test/workflow/reconciliation.test.ts': 15,
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
