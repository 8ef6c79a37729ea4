import { workflowInfo, type WorkflowInterceptors } from '@temporalio/workflow';
import { activityQueue } from '../src/contract/activity-queue.ts';

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
          return next(input);
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

function applicationOf(input: unknown): string | null {
  const { application } = asObject(input);
  return typeof application === 'string' && application !== '' ? application : null;
}

function asObject(value: unknown): { readonly application?: unknown } {
  return typeof value === 'object' && value !== null ? value : {};
}
