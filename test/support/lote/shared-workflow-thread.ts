import { Worker } from '@temporalio/worker';

/**
 * Lets the workers of this process that run the same bundle from a file share the thread that runs their workflows, as the workflows of one
 * worker share it: to start a thread and evaluate the bundle is most of what a worker costs. The thread ends with the process. No two of
 * these workers may poll one task queue: the thread knows a workflow by its run.
 */
export function shareWorkflowThread(): void {
  WorkflowThread.share();
}

/** A subclass, because the SDK lets subclasses alone make the thread. */
class WorkflowThread extends Worker {
  static share(): void {
    type Create = typeof Worker.createWorkflowCreator;
    const create: Create = Worker.createWorkflowCreator.bind(Worker);
    const threads = new Map<string, ReturnType<Create>>();
    Worker.createWorkflowCreator = async (bundle, options, logger) => {
      // A replay runs without a thread, and a bundle without a file is made for one worker.
      if (options.debugMode || options.workflowBundle === undefined) return create(bundle, options, logger);
      const activities = [...options.activities.keys()].toSorted().join();
      const name = `${bundle.filename} ${activities}`;
      const thread = threads.get(name) ?? create(bundle, options, logger);
      threads.set(name, thread);
      const creator = await thread;
      return { createWorkflow: (of) => creator.createWorkflow(of), destroy: () => Promise.resolve() };
    };
  }
}
