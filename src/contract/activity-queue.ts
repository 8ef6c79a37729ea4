/**
 * The task queue on which the activities of one of several applications wait. Only that application's worker polls it,
 * so that no other key is at hand where its work arrives, and nobody else's work waits behind it.
 */
export function activityQueue(taskQueue: string, application: string): string {
  return `${taskQueue}.${application}`;
}
