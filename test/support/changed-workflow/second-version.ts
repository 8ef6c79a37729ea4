import { condition, executeChild, setHandler, sleep } from '@temporalio/workflow';
import { goOn } from './first-version.ts';

/** The hour begins after the word: the timer in a history of the first version has no place here. */
export async function page(): Promise<void> {
  let notified = false;
  setHandler(goOn, () => void (notified = true));
  await condition(() => notified);
  await sleep('1h');
}

export async function batch(pageId: string): Promise<void> {
  await executeChild(page, { workflowId: pageId });
}
