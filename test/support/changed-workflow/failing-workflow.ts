/** Its workflow task fails again and again, as that of code which cannot go on with a history. */
export async function invoiceBatch(): Promise<void> {
  throw new Error('This workflow cannot go on');
}
