import { condition, defineSignal, executeChild, setHandler, sleep } from '@temporalio/workflow';

export const goOn = defineSignal('goOn');

/** Waits for an hour, which begins at once, and for a word. */
export async function page(): Promise<void> {
  let notified = false;
  setHandler(goOn, () => void (notified = true));
  const hour = sleep('1h');
  await condition(() => notified);
  await hour;
}

/** A run whose page does the waiting. */
export async function batch(pageId: string): Promise<void> {
  await executeChild(page, { workflowId: pageId });
}
