/** By which part of a service profile an id was read: a corrected profile reads it again. Null: an earlier version of Lote read it. */
export const READERS_OF_MERCHANTS: readonly string[] = ['ALTER TABLE merchant ADD COLUMN read_by text'];
