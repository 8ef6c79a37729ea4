/** Whether an id is the one that the application `default` has (`base`), or that of another application: its name and a dash stand before it. */
export function isIdOfAnyApplication(scheduleId: string, base: string): boolean {
  return scheduleId === base || scheduleId.endsWith(`-${base}`);
}
