/**
 * Which contracts that the service builds on a chain does not have. An account that is made of absent parts could hold
 * money that cannot be moved, so such a chain is not offered.
 */
import { Effect } from "effect"
import { keccak256 } from "viem"
import { EvmClients } from "#layers/evm/rpc/EvmClients.ts"
import type { EvmChain } from "#layers/evm/EvmConfig.ts"
import { isKnownCode, routedSwapCode, tradeGuardCode } from "#layers/evm/deployment/knownCode.ts"
import { requiredContracts } from "#layers/evm/requiredContracts.ts"

/** Names and addresses of what is absent or is not what it should be; empty when the chain has everything. */
export const missingContracts = Effect.fn("missingContracts")(function* (chain: EvmChain) {
  const { chainId, guard, routedSwap, router } = chain
  const { request } = yield* EvmClients
  const contracts = requiredContracts(chain)
  const codes = yield* Effect.forEach(
    contracts,
    ([, address]) => request(chainId, "eth_getCode", (client) => client.getCode({ address })),
    { concurrency: 4 }
  )
  const missing = contracts.flatMap(([name, address, codeHash], index) => {
    const code = codes[index]
    const isThere = code !== undefined && code !== "0x" && (codeHash === undefined || keccak256(code) === codeHash)
    return isThere ? [] : [`${name} (${address})`]
  })
  const made = [
    ...(routedSwap === undefined ? [] : [routedSwapCode(routedSwap, router)]),
    ...(guard === undefined ? [] : [tradeGuardCode(guard)])
  ]
  const others = yield* Effect.forEach(made, (known) =>
    Effect.map(
      request(chainId, "eth_getCode", (client) => client.getCode({ address: known.contract })),
      (code) => (isKnownCode(code, known) ? [] : [`${known.name} (${known.contract})`])
    )
  )
  return [...missing, ...others.flat()]
})
