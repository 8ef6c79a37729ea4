/** Workflow id of a page: known to whoever has a signal for it, without asking Temporal. */
export function pageWorkflowId(batchId: string, page: number): string {
  return `${batchId}-p${String(page).padStart(4, '0')}`;
}
