/** Configurations of EVM chains for adapters that ask no node. */
import { Redacted } from "effect"
import { EvmAddress } from "#domain/values/Caip.ts"
import type { EvmChain, EvmConfig } from "#layers/evm/EvmConfig.ts"

const signer = { kind: "local", key: Redacted.make(`0x${"11".repeat(32)}`) } as const

/** A chain of which only what is given matters. */
export const evmConfigOf = (chain: Pick<EvmChain, "chainId"> & Partial<EvmChain>): EvmConfig["Service"] => ({
  chains: [
    {
      rpcUrls: ["http://127.0.0.1:9"],
      router: EvmAddress.make("0x52908400098527886E0F7030069857D2E4169EE7"),
      connectorTokens: [],
      confirmations: 1,
      gasCeiling: 0n,
      minTip: 0n,
      lowRelayerFunds: 0n,
      ...chain
    }
  ],
  agent: signer,
  relayers: [signer]
})
