/** The code that contracts of ours have on a chain, and how it is compared where it holds addresses of that chain. */
import { type Address, type Hex, keccak256, pad } from "viem"
import type { EvmAddress } from "#domain/values/Caip.ts"
import { toViem } from "#layers/evm/address.ts"
import { routedSwapCodeHash, withdrawalExecutor } from "#layers/evm/contracts.ts"
import type { EvmChain } from "#layers/evm/EvmConfig.ts"
import { registryChangesOf, runnerOf, settlementRuleOf, tradeGuardCodeHash } from "#layers/evm/tradeGuard.ts"

/** A contract whose code is known but for the addresses that its constructor was given. */
export interface KnownCode {
  readonly name: string
  readonly contract: Address
  /** Keccak-256 of the code with zeros in place of those addresses. */
  readonly codeHash: Hex
  readonly addresses: ReadonlyArray<Address>
}

export const routedSwapCode = (
  { contract, target }: NonNullable<EvmChain["routedSwap"]>,
  router: EvmAddress
): KnownCode => ({
  name: `RoutedSwap for router ${router} and diamond ${target}`,
  contract: toViem(contract),
  codeHash: routedSwapCodeHash,
  addresses: [toViem(target), toViem(router)]
})

export const tradeGuardCode = (guard: EvmAddress): KnownCode => ({
  name: `TradeGuard for executor ${withdrawalExecutor}`,
  contract: toViem(guard),
  codeHash: tradeGuardCodeHash,
  addresses: [withdrawalExecutor, ...[runnerOf, settlementRuleOf, registryChangesOf].map((part) => toViem(part(guard)))]
})

/** The code is compared as a whole: only one that calls exactly these contracts becomes the known one. */
export const isKnownCode = (code: Hex | undefined, { addresses, codeHash }: KnownCode): boolean =>
  code !== undefined &&
  keccak256(
    addresses.reduce(
      (text, address) => text.replaceAll(pad(address).slice(2).toLowerCase(), "0".repeat(64)),
      code.toLowerCase()
    ) as Hex
  ) === codeHash
