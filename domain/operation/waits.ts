/** Events that say why an operation waits for the word of a chain, each with `{reason}` for people. */

/** Something was sent, and no endpoint of its chain has shown what became of it. */
export const receiptWaits = "receipt_waits"

/** Provider and chains of a transfer could not be read, or do not agree. */
export const transferUnclear = "transfer_unclear"
