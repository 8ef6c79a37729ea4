/** Moments between two steps on the disk; a test kills the process at each of them. */
export const DROP_POINTS = [
  'night-opened',
  'slot-made',
  'file-claimed',
  'marker-claimed',
  'note-prepared',
  'note-placed',
  'file-shelved',
  'marker-removed',
  'slot-removed',
] as const;

/** Name of one of `DROP_POINTS`. */
export type DropPoint = (typeof DROP_POINTS)[number];
