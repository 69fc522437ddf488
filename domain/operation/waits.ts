/** Events that say why an operation waits for a chain's answer, each with `{reason}` for people. */

/** Something was sent, and no endpoint of its chain has shown what became of it. */
export const receiptWaits = "receipt_waits"

/** The nodes of a chain are behind what is known of the portfolio's account, so it could not be read. */
export const readingWaits = "reading_waits"

/** Provider and chains of a transfer could not be read, or do not agree. */
export const transferUnclear = "transfer_unclear"

/** Gas costs more than what was sent may cost, so it waits for cheaper gas or is taken back. */
export const gasWaits = "gas_waits"
