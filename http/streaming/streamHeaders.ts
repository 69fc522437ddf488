/**
 * Headers of answers that go on: no cache keeps them, nothing on the way rewrites or compresses them, and none waits
 * for more of them before it passes them on.
 */
export const streamHeaders = { "cache-control": "private, no-store, no-transform", "x-accel-buffering": "no" } as const
