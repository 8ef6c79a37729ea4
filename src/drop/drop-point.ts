/** Points between two steps on the disk; a test kills the process at each of them. */
export const DROP_POINTS = [
  'night-opened',
  'claim-folder-made',
  'file-claimed',
  'marker-claimed',
  'note-prepared',
  'note-placed',
  'file-archived',
  'marker-removed',
  'claim-folder-removed',
] as const;

/** Name of one of `DROP_POINTS`. */
export type DropPoint = (typeof DROP_POINTS)[number];
