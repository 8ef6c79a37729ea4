import { AsyncLocalStorage } from 'node:async_hooks';
import type { Connection } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import { connectTemporal } from '../../../src/app/temporal/temporal-connection.ts';

/**
 * Lets the connections of all workers of this process keep the context of their calls in one place. Each has a place of its own otherwise, and keeps it
 * when it is closed; Node goes through all of them at each promise, so that the stacks of one test process made each other slower and slower: 300,000
 * promises took 0.07 s beside one place, 0.6 s beside 15 and 1.9 s beside 60.
 */
export function shareCallContext(): void {
  const connect = NativeConnection.connect.bind(NativeConnection);
  const shared: NativeConnection['callContextStorage'] = new AsyncLocalStorage();
  NativeConnection.connect = async (options) => {
    const connection = await connect(options);
    connection.callContextStorage.disable();
    return Object.assign(connection, { callContextStorage: shared });
  };
}

interface Shared {
  readonly connection: Promise<Connection>;
  users: number;
}

const byAddress = new Map<string, Shared>();

/** The one client connection of this process to a server, of the product's kind: a call that is repeated ends with it. It is closed when the last user releases it. */
export async function sharedConnection(address: string): Promise<{ connection: Connection; release(): Promise<void> }> {
  const shared = byAddress.get(address) ?? { connection: connectTemporal({ address }), users: 0 };
  byAddress.set(address, shared);
  shared.users += 1;
  const release = async (): Promise<void> => {
    shared.users -= 1;
    if (shared.users > 0) return;
    byAddress.delete(address);
    await (await shared.connection).close();
  };
  return { connection: await shared.connection, release };
}

/**
 * Lets the workers of this process that run the bundle at this path share the thread that runs their workflows: starting
 * a thread and evaluating the bundle is most of what a worker costs. The workflows of one worker share a thread too. The
 * thread ends with the process. Two of these workers must not poll one task queue, because the thread knows a workflow by
 * its run. Workers with other activities and other bundles, as those of replays, get a thread of their own.
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
      if (bundle.filename !== path) return create(bundle, options, logger);
      // The worker that only moves new runs has none, and runs without a thread.
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
