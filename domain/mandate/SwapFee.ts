/** A swap fee as it is configured, of a tenant or as a strategy's override. Source: shapes 2.13 and 2.14. */
export interface SwapFee {
  /** Basis points of what a swap yields, 0 to 300; null when none is configured. */
  readonly swapBps: number | null
}
