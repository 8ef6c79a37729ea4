import { condition, executeChild, setHandler, sleep } from '@temporalio/workflow';
import { goOn } from './first-version.ts';

/** The first version with one more sleep, which no history of the first one has. */
export async function page(): Promise<void> {
  let told = false;
  setHandler(goOn, () => void (told = true));
  await sleep('1s');
  await condition(() => told);
  await sleep('1h');
}

export async function batch(pageId: string): Promise<void> {
  await executeChild(page, { workflowId: pageId });
}
