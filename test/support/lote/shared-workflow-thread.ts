import { Worker } from '@temporalio/worker';

/**
 * Lets the workers of this process that run the bundle at this path share the thread that runs their workflows: starting
 * a thread and evaluating the bundle is most of what a worker costs. The workflows of one worker share a thread too. The
 * thread ends with the process. Two of these workers must not poll one task queue, because the thread knows a workflow by
 * its run. Workers with other activities, replays and other bundles get a thread of their own.
 */
export function shareWorkflowThread(path: string): void {
  WorkflowThread.share(path);
}

/** A subclass, because the SDK lets subclasses alone make the thread. */
class WorkflowThread extends Worker {
  static share(path: string): void {
    WorkflowThread.parseOnce(path);
    type Create = typeof Worker.createWorkflowCreator;
    const create: Create = Worker.createWorkflowCreator.bind(Worker);
    const threads = new Map<string, ReturnType<Create>>();
    Worker.createWorkflowCreator = async (bundle, options, logger) => {
      // A replay runs without a thread: the SDK sets its debug mode.
      if (options.debugMode || bundle.filename !== path) return create(bundle, options, logger);
      const activities = [...options.activities.keys()].toSorted().join();
      const thread = threads.get(activities) ?? create(bundle, options, logger);
      threads.set(activities, thread);
      const creator = await thread;
      return { createWorkflow: (of) => creator.createWorkflow(of), destroy: () => Promise.resolve() };
    };
  }

  /** Each worker would read and compile the bundle, and read its source map. */
  static parseOnce(path: string): void {
    type Parse = typeof Worker.getOrCreateBundle;
    const parse: Parse = Worker.getOrCreateBundle.bind(Worker);
    let parsed: ReturnType<Parse> | null = null;
    Worker.getOrCreateBundle = (options, logger) => {
      const { workflowBundle } = options;
      const isShared = workflowBundle !== undefined && 'codePath' in workflowBundle && workflowBundle.codePath === path;
      return isShared ? (parsed ??= parse(options, logger)) : parse(options, logger);
    };
  }
}
