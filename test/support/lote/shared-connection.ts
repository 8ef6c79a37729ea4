import { AsyncLocalStorage } from 'node:async_hooks';
import type { Connection } from '@temporalio/client';
import { NativeConnection, Worker } from '@temporalio/worker';
import { connectTemporal } from '../../../src/app/temporal/temporal-connection.ts';

/**
 * Lets all worker connections of this process share one AsyncLocalStorage. Otherwise each connection has its own and
 * keeps it after it closes. Node visits each storage at each promise, so the stacks of one test process slowed each
 * other down: 300,000 promises took 0.07 s with one storage, 0.6 s with 15 and 1.9 s with 60.
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

/** Returns this process's only client connection to a server, made as in the product. The last release closes it. */
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
 * Lets the workers of this process that run the bundle at this path share the thread of their workflows, because
 * starting a thread and evaluating the bundle is most of the cost of a worker. The workflows of one worker share a
 * thread, too. The thread ends with the process. Two of these workers must not poll one task queue, because the thread
 * identifies a workflow by its run. Workers with other activities or bundles, such as replays, get their own thread.
 */
export function shareWorkflowThread(path: string): void {
  WorkflowThread.share(path);
}

/** A subclass, because only subclasses of the SDK's Worker can make the thread. */
class WorkflowThread extends Worker {
  static share(path: string): void {
    WorkflowThread.parseOnce(path);
    type Create = typeof Worker.createWorkflowCreator;
    const create: Create = Worker.createWorkflowCreator.bind(Worker);
    const threads = new Map<string, ReturnType<Create>>();
    Worker.createWorkflowCreator = async (bundle, options, logger) => {
      if (bundle.filename !== path) return create(bundle, options, logger);
      // The worker that only moves new runs has no activities, so it does not share the thread of other workers.
      const activities = [...options.activities.keys()].toSorted().join();
      const thread = threads.get(activities) ?? create(bundle, options, logger);
      threads.set(activities, thread);
      const creator = await thread;
      return { createWorkflow: (of) => creator.createWorkflow(of), destroy: () => Promise.resolve() };
    };
  }

  /** Lets all workers share the parsed bundle; otherwise each worker compiles the bundle and reads its source map. */
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
