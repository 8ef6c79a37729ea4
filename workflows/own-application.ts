import {
  ActivityFailure,
  ApplicationFailure,
  proxyLocalActivities,
  setCurrentDetails,
  workflowInfo,
  type WorkflowInterceptors,
} from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import { activityQueue } from '../src/contract/activity-queue.ts';
import { fill } from '../src/texts/fill.ts';
import { hasPatch } from './has-patch.ts';
import { detailsFormat } from './texts/details-format.ts';

/** By the worker of the workflow itself, in the same task. */
const { findApplication } = proxyLocalActivities<Activities>({
  scheduleToCloseTimeout: '5s',
  retry: { maximumAttempts: 1 },
});

/**
 * Where there are several applications, a workflow is started with the name of its own. Everything that it orders goes
 * to the worker of that application and names it: activities, so that they compare it with the ledger, and child
 * workflows. It stands here once, so that no step can forget it. A workflow without a name orders as it always did.
 */
export const interceptors = (): WorkflowInterceptors => {
  let application: string | null = null;
  const named = (args: readonly unknown[]): unknown[] => [{ ...asObject(args[0]), application }, ...args.slice(1)];
  return {
    inbound: [
      {
        async execute(input, next) {
          application = applicationOf(input.args[0]);
          if (application === null || workflowInfo().parent !== undefined) return next(input);
          // Beside the workflow, whose handlers must be there for the first query.
          return Promise.race([withoutEnd(sayWhoIsMissing(application)), next(input)]);
        },
      },
    ],
    outbound: [
      {
        async scheduleActivity(input, next) {
          if (application === null) return next(input);
          const taskQueue = activityQueue(workflowInfo().taskQueue, application);
          return next({ ...input, args: named(input.args), options: { ...input.options, taskQueue } });
        },
        async startChildWorkflowExecution(input, next) {
          if (application === null) return next(input);
          return next({ ...input, options: { ...input.options, args: named(input.options.args) } });
        },
      },
    ],
  };
};

/**
 * A name that somebody typed may be nobody's: everything that is ordered for it waits, perhaps for a worker elsewhere, and the run says so until its first
 * step was made. Where there is one application, no worker ever comes.
 * @throws ApplicationFailure `application-mismatch`
 */
async function sayWhoIsMissing(application: string): Promise<void> {
  if (!hasPatch('find-the-application')) return;
  try {
    const { isHere, language } = await findApplication({ application });
    if (!isHere) setCurrentDetails(fill(detailsFormat(language).texts.applicationMissing, { application }));
  } catch (error) {
    const cause = error instanceof ActivityFailure ? error.cause : error;
    if (cause instanceof ApplicationFailure && cause.type === 'application-mismatch') throw cause;
  }
}

/** Only a failure ends it. */
async function withoutEnd(step: Promise<void>): Promise<never> {
  await step;
  return new Promise<never>(() => undefined);
}

function applicationOf(input: unknown): string | null {
  const { application } = asObject(input);
  return typeof application === 'string' && application !== '' ? application : null;
}

function asObject(value: unknown): { readonly application?: unknown } {
  return typeof value === 'object' && value !== null ? value : {};
}
