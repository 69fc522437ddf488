/** What a deployment is made of: a chain's file, the keys, the compiled contracts, and the chain itself. */
import { Effect } from "effect"
import {
  type Abi,
  type Address,
  BaseError,
  encodeDeployData,
  getCreate2Address,
  type Hex,
  pad,
  type PublicClient
} from "viem"
import { fromViem } from "#layers/evm/address.ts"
import { erc1271OwnerValidator, withdrawalExecutor } from "#layers/evm/contracts.ts"
import type { ChainFile, GuardKeys } from "#layers/evm/deployment/ChainFile.ts"
import { DeploymentRefused } from "#layers/evm/deployment/DeploymentRefused.ts"
import { isKnownCode, routedSwapCode, tradeGuardCode } from "#layers/evm/deployment/knownCode.ts"

/** The deterministic deployer, which has no owner: what it makes has an address by its code alone. */
export const create2Deployer: Address = "0x4e59b44847b379578588920cA78FbF26c0B4956C"

/** Its 69 bytes of code. */
export const create2DeployerCodeHash: Hex = "0x2fa86add0aed31f33a762c9d88e807c475bd51d0f52bd0955754b2608f7e4989"

export const noSalt = pad("0x0")

/** The contracts of `contracts/` as compiled, by name. */
export type CompiledContracts = (name: string) => { readonly abi: Abi; readonly creation: Hex; readonly runtime: Hex }

export interface DeploymentTarget {
  readonly file: ChainFile
  readonly keys: GuardKeys
  readonly compiled: CompiledContracts
  readonly client: Pick<PublicClient, "getChainId" | "getCode" | "multicall" | "getBlock">
}

/** A contract of ours: where it will be, what it is made with, and how its code is recognised. */
export interface OwnContract {
  readonly name: string
  readonly address: Address
  readonly initCode: Hex
  readonly isIts: (code: Hex) => boolean
}

const at = (bytecode: Hex) => getCreate2Address({ from: create2Deployer, salt: noSalt, bytecode })

/** What the contracts of ours follow from. */
interface OwnParts {
  readonly compiled: CompiledContracts
  readonly keys: Pick<GuardKeys, "deployer" | "guardian">
  readonly file: Pick<ChainFile, "routedSwap">
}

/** The contracts of ours on a chain, in the order in which they are deployed; the guard last. */
export const ownContracts = ({ compiled, file, keys }: OwnParts): ReadonlyArray<OwnContract> => {
  const plain = (name: string): OwnContract => {
    const { creation, runtime } = compiled(name)
    return { name, address: at(creation), initCode: creation, isIts: (code) => code.toLowerCase() === runtime }
  }
  const made = (name: string, args: ReadonlyArray<unknown>) => {
    const { abi, creation } = compiled(name)
    const initCode = encodeDeployData({ abi, bytecode: creation, args })
    return { name, address: at(initCode), initCode }
  }
  const guard = made("TradeGuard", [keys.deployer, keys.guardian, withdrawalExecutor])
  const routed = file.routedSwap === null ? [] : [routedSwapOf(file.routedSwap, made)]
  return [
    plain("WithdrawalExecutor"),
    plain("Erc1271OwnerValidator"),
    ...routed,
    { ...guard, isIts: (code: Hex) => isKnownCode(code, tradeGuardCode(fromViem(guard.address))) }
  ]
}

const routedSwapOf = (
  { router, target }: NonNullable<ChainFile["routedSwap"]>,
  made: (name: string, args: ReadonlyArray<Address>) => Omit<OwnContract, "isIts">
): OwnContract => {
  const contract = made("RoutedSwap", [target, router])
  const known = routedSwapCode({ contract: fromViem(contract.address), target: fromViem(target) }, fromViem(router))
  return { ...contract, isIts: (code) => isKnownCode(code, known) }
}

/** Sentences about compiled contracts that are not those of this release. */
export const strangeContracts = (own: ReadonlyArray<OwnContract>): ReadonlyArray<string> =>
  (
    [
      ["WithdrawalExecutor", withdrawalExecutor],
      ["Erc1271OwnerValidator", erc1271OwnerValidator]
    ] as const
  ).flatMap(([name, address]) => {
    const found = own.find((contract) => contract.name === name)!.address
    return found === address
      ? []
      : [
          `contracts/${name}.sol compiles to ${found}, and this release knows ${address}: install the packages of this release (npm install)`
        ]
  })

/** Asks the chain; a request that fails refuses the deployment, and says which one. */
export const ask = <A>(what: string, run: () => Promise<A>): Effect.Effect<A, DeploymentRefused> =>
  Effect.tryPromise({
    try: run,
    catch: (cause) =>
      new DeploymentRefused({
        reasons: [
          `The chain did not answer ${what}: ${cause instanceof BaseError ? cause.shortMessage : String(cause)}. Run the command again, or set another endpoint`
        ]
      })
  })
