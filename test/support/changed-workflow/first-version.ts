import { condition, defineSignal, executeChild, setHandler, sleep } from '@temporalio/workflow';

export const goOn = defineSignal('goOn');

/** Waits for a word, and then for an hour. */
export async function page(): Promise<void> {
  let told = false;
  setHandler(goOn, () => void (told = true));
  await condition(() => told);
  await sleep('1h');
}

/** A run whose page does the waiting. */
export async function batch(pageId: string): Promise<void> {
  await executeChild(page, { workflowId: pageId });
}
