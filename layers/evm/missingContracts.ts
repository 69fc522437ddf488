/**
 * Which contracts that the service builds on a chain does not have. An account that is made of absent parts could hold
 * money that cannot be moved, so such a chain is not offered.
 */
import { Effect } from "effect"
import { type Address, type Hex, keccak256, pad } from "viem"
import { toViem } from "#layers/evm/address.ts"
import { routedSwapCodeHash, withdrawalExecutor } from "#layers/evm/contracts.ts"
import { registryChangesOf, runnerOf, settlementRuleOf, tradeGuardCodeHash } from "#layers/evm/tradeGuard.ts"
import { EvmClients } from "#layers/evm/rpc/EvmClients.ts"
import type { EvmChain } from "#layers/evm/EvmConfig.ts"
import { requiredContracts } from "#layers/evm/requiredContracts.ts"

/**
 * The hash of a code without the addresses that its constructor was given. So the code on a chain is compared as a
 * whole: only one that calls exactly these contracts becomes the known one.
 */
const hashWithout = (code: Hex, addresses: ReadonlyArray<Address>): Hex =>
  keccak256(
    addresses.reduce(
      (text, address) => text.replaceAll(pad(address).slice(2).toLowerCase(), "0".repeat(64)),
      code.toLowerCase()
    ) as Hex
  )

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
    ...(routedSwap === undefined
      ? []
      : [
          {
            name: `RoutedSwap for router ${router} and diamond ${routedSwap.target}`,
            contract: toViem(routedSwap.contract),
            hash: routedSwapCodeHash,
            knows: [toViem(routedSwap.target), toViem(router)]
          }
        ]),
    ...(guard === undefined
      ? []
      : [
          {
            name: `TradeGuard for executor ${withdrawalExecutor}`,
            contract: toViem(guard),
            hash: tradeGuardCodeHash,
            knows: [
              withdrawalExecutor,
              ...[runnerOf, settlementRuleOf, registryChangesOf].map((part) => toViem(part(guard)))
            ]
          }
        ])
  ]
  const others = yield* Effect.forEach(made, ({ contract, hash, knows, name }) =>
    Effect.map(
      request(chainId, "eth_getCode", (client) => client.getCode({ address: contract })),
      (code) => (code !== undefined && hashWithout(code, knows) === hash ? [] : [`${name} (${contract})`])
    )
  )
  return [...missing, ...others.flat()]
})
