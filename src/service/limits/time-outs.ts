/** In milliseconds. A connection takes one round trip or fails; a service may think for a while; an answer is small. */
export const TIMEOUTS = { connect: 10_000, headers: 30_000, body: 10_000, total: 45_000 };
