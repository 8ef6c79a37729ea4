/** The database's own clock, in milliseconds: the clocks of workers need not agree. It goes on within a transaction. */
export const CLOCK = 'extract(epoch FROM clock_timestamp())::double precision * 1000';
