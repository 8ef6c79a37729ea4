/** A workflow whose task always fails, like code that cannot continue a history. */
export async function invoiceBatch(): Promise<void> {
  throw new Error('This workflow cannot go on');
}
