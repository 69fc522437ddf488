/** CAIP names of the chains that CoinGecko calls platforms. Source: CAIP-2, CAIP-19; docs/decisions/0121. */
import { solanaReference } from "#domain/values/Caip.ts"

interface Platform {
  readonly id: string
  readonly chainIdentifier: number | null
}

/** Null where the platform has no such name. */
export interface CaipNames {
  readonly chainNamespace: string | null
  readonly chainReference: string | null
  readonly assetNamespace: string | null
  readonly caipChainId: string | null
}

const unmapped: CaipNames = { chainNamespace: null, chainReference: null, assetNamespace: null, caipChainId: null }

/** EVM chains by their number, Solana by name; every other platform has no CAIP name here. */
export const caipOfPlatform = ({ chainIdentifier, id }: Platform): CaipNames => {
  if (chainIdentifier !== null && chainIdentifier > 0) {
    const reference = String(chainIdentifier)
    return {
      chainNamespace: "eip155",
      chainReference: reference,
      assetNamespace: "erc20",
      caipChainId: `eip155:${reference}`
    }
  }
  if (id !== "solana") return unmapped
  return {
    chainNamespace: "solana",
    chainReference: solanaReference,
    assetNamespace: "spl",
    caipChainId: `solana:${solanaReference}`
  }
}
