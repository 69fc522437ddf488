/**
 * The request of an owner, decoded, and its canonical bytes for idempotency. Source: interface "Portfolio action
 * submit".
 */
import type { ChainId, EvmAddress } from "#domain/values/Caip.ts"
import type { PortfolioId } from "#domain/values/Ids.ts"
import type { RouteExtended } from "#domain/order/RouteExtended.ts"

/** The service quotes. */
export interface QuotedByService {
  readonly kind: "swap_backend_quote"
  readonly fromChainId: ChainId
  readonly fromToken: EvmAddress
  readonly fromAmountRaw: bigint
  readonly toChainId: ChainId
  readonly toToken: EvmAddress
  readonly toAddress: EvmAddress
  readonly slippageBps: number | null
}

/** The client has quoted. */
export interface QuotedByClient {
  readonly kind: "swap"
  readonly chainId: ChainId
  readonly route: RouteExtended
  readonly slippageBps: number | null
  /** `expectedVaultChainId`: the route runs on that chain and ends in the portfolio's account there. */
  readonly constraints: { readonly sameChainOnly: boolean; readonly expectedVaultChainId: ChainId | null }
}

/** The issuer of one of both tokens has quoted. */
export interface QuotedByIssuer {
  readonly kind: "issuer_direct"
  readonly chainId: ChainId
  readonly sellToken: EvmAddress
  readonly buyToken: EvmAddress
  readonly sellAmountRaw: bigint
  readonly recipient: EvmAddress
  /** The amount that a preview estimated; null: there was no preview, which is refused. */
  readonly expectedRaw: bigint | null
}

export interface OrderRequest {
  readonly portfolioId: PortfolioId
  /** Makes a repeat answer what the first one did. */
  readonly requestId: string | null
  readonly correlationId: string
  readonly swap: QuotedByService | QuotedByClient | QuotedByIssuer
}

/** Writes a value as text that does not depend on the order of its keys. */
const canonical = (value: unknown): unknown => {
  if (typeof value === "bigint") return value.toString()
  if (Array.isArray(value)) return value.map(canonical)
  if (typeof value !== "object" || value === null) return value
  return Object.entries(value)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, part]) => [key, canonical(part)])
}

/** Bytes that are equal exactly when two requests mean the same. */
export const actionRequestBytes = ({ portfolioId, swap }: OrderRequest): Uint8Array =>
  new TextEncoder().encode(JSON.stringify([portfolioId, canonical(swap)]))
