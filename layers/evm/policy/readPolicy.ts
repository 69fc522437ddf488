/** Reads an account's permissions and its state in the guard, all in one request at one block. */
import { DateTime, Effect } from "effect"
import { type Address, decodeFunctionResult, encodeFunctionData, type Hex, pad, parseAbi, zeroAddress } from "viem"
import { ECDSA_SIGNER_CONTRACT } from "@zerodev/permissions"
import type { ChainId } from "#domain/values/Caip.ts"
import { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import type { Authorization, ChainAuthorization } from "#domain/account/Authorization.ts"
import type { Grant } from "#domain/account/Grant.ts"
import type {
  ChainPolicy,
  GuardReading,
  PermissionReading,
  PermissionState,
  PolicyCheck
} from "#domain/policy/ChainPolicy.ts"
import { nonceOfFreshAccount } from "#layers/evm/account/enableMessage.ts"
import { isSignedAt } from "#layers/evm/account/isSignedAt.ts"
import { decodePermission, type Permission, permissionCalls } from "#layers/evm/account/permissionState.ts"
import { addressOf, fromViem, toViem, evmPolicy } from "#layers/evm/address.ts"
import { multicall3, multicall3Abi } from "#layers/evm/contracts.ts"
import type { Call, CallResult } from "#layers/evm/rpc/aggregate.ts"
import { multicall } from "#layers/evm/rpc/multicall.ts"
import { allowedCalls } from "#layers/evm/policy/allowedCalls.ts"
import { signedBits, tradeGuardAbi } from "#layers/evm/tradeGuard.ts"

/** ZeroDev's ECDSA signer: the key of a permission of an account. */
const signerAbi = parseAbi(["function signer(bytes32 permissionId, address account) view returns (address)"])

interface Named extends Call {
  readonly reads: string
}

/** What an owner signed for the chain, with the terms around it. */
interface Signed {
  readonly authorization: Authorization
  readonly chain: ChainAuthorization
}

const signedOn = (grants: ReadonlyArray<Grant>, chainId: ChainId): ReadonlyArray<Signed> =>
  grants
    .flatMap(({ authorization }) =>
      authorization.chains.flatMap((chain) => (chain.chainId === chainId ? [{ authorization, chain }] : []))
    )
    .toReversed()

const blockCalls: ReadonlyArray<Call> = (["getBlockNumber", "getCurrentBlockTimestamp"] as const).map(
  (functionName) => ({ target: multicall3, data: encodeFunctionData({ abi: multicall3Abi, functionName }) })
)

const callsPerPermission = 5

const callsOf = ({ chain: { accountId, permissionId } }: Signed): ReadonlyArray<Named> => {
  const account = toViem(addressOf(accountId))
  const [config, validation, current, from] = permissionCalls(account, permissionId as Hex)
  return [
    { reads: `permission ${permissionId}: its flags, signer and policies`, ...config },
    { reads: `permission ${permissionId}: the nonce at which it was enabled, and its hook`, ...validation },
    { reads: "the account's present nonce", ...current },
    { reads: "the nonce below which permissions are void", ...from },
    {
      reads: `permission ${permissionId}: the agent's key`,
      target: ECDSA_SIGNER_CONTRACT,
      data: encodeFunctionData({
        abi: signerAbi,
        functionName: "signer",
        args: [pad(permissionId as Hex, { size: 32, dir: "right" }), account]
      })
    }
  ]
}

const guardCalls = (guard: Address, account: Address): ReadonlyArray<Named> => {
  const plain = (functionName: "state" | "administrator" | "guardian" | "attestor", reads: string): Named => ({
    reads,
    target: guard,
    data: encodeFunctionData({ abi: tradeGuardAbi, functionName })
  })
  const ofAccount = (functionName: "policyOf" | "closedRoot", reads: string): Named => ({
    reads,
    target: guard,
    data: encodeFunctionData({ abi: tradeGuardAbi, functionName, args: [account] })
  })
  return [
    ofAccount("policyOf", "the guard's permission of the account, its limits, and what is left of budget and turnover"),
    ofAccount("closedRoot", "the Merkle root of the account's closed list"),
    plain("state", "the guard's registry: sequencer feed, version, paused, sealed"),
    plain("administrator", "who may widen the registry, after two days"),
    plain("guardian", "who may narrow the registry at once"),
    plain("attestor", "whose signature prices tokens without a feed")
  ]
}

/** What the guard keeps of an account. Source: `policyOf` of the guard's ABI. */
interface GuardsAccount {
  /** 4 bytes in hex. */
  readonly permissionId: Hex
  /** UNIX seconds. */
  readonly issuedAt: number
  readonly validUntil: number
  /** Bits of what the owner signed. */
  readonly signed: number
}

interface DecodedGuard {
  readonly account: GuardsAccount
  readonly reading: GuardReading
}

const decodeGuard = (
  guard: Address,
  [policy, root, state, administrator, guardian, attestor]: ReadonlyArray<CallResult>
): DecodedGuard => {
  const read = (result: CallResult | undefined) => (result?.success === true ? result.data : "0x")
  const address = (functionName: "administrator" | "guardian" | "attestor", result: CallResult | undefined) =>
    fromViem(decodeFunctionResult({ abi: tradeGuardAbi, functionName, data: read(result) }))
  const [account, tradeBps, budgetBps, lossLeft, turnoverLeft] = decodeFunctionResult({
    abi: tradeGuardAbi,
    functionName: "policyOf",
    data: read(policy)
  })
  const { isPaused, version } = decodeFunctionResult({ abi: tradeGuardAbi, functionName: "state", data: read(state) })
  const closed = decodeFunctionResult({ abi: tradeGuardAbi, functionName: "closedRoot", data: read(root) })
  const reading: GuardReading = {
    contract: fromViem(guard),
    registryVersion: Number(version),
    isPaused,
    administrator: address("administrator", administrator),
    guardian: address("guardian", guardian),
    attestor: address("attestor", attestor),
    tradeBps: Number(tradeBps),
    budgetBps: Number(budgetBps),
    lossLeft,
    turnoverLeft,
    closedRoot: (account.signed & signedBits.closedList) === 0 ? null : closed
  }
  return { account, reading }
}

/** The permission in Kernel alone. */
const kernelState = ({ authorization, chain }: Signed, permission: Permission | undefined): PermissionState => {
  if (permission?.isEnabled === true) {
    return permission.hasHook && permission.nonce >= permission.validFrom ? "active" : "ended"
  }
  if (permission !== undefined && permission.nonce > 0) return "ended"
  return isSignedAt(authorization, chain, permission?.currentNonce ?? nonceOfFreshAccount) ? "unused" : "ended"
}

/** The block that was read. */
interface GuardedBlock {
  /** The state of the account in the guard; undefined where it has none. */
  readonly guards: GuardsAccount | undefined
  /** Its time. */
  readonly seconds: number
}

/** State of a permission, with what the guard says of it. */
const stateOf = (
  signed: Signed,
  permission: Permission | undefined,
  { guards, seconds }: GuardedBlock
): PermissionState => {
  const state = kernelState(signed, permission)
  const { guard } = evmPolicy(signed.chain)
  if (guard === undefined || state === "ended") return state
  if (state === "active") {
    if (guards === undefined || guards.validUntil === 0 || guards.permissionId !== signed.chain.permissionId)
      return "ended"
    return guards.validUntil < seconds ? "expired" : "active"
  }
  if (guards !== undefined && guards.issuedAt >= guard.issuedAt) return "ended"
  return guard.validUntil < seconds ? "expired" : "unused"
}

const decodeSigner = (result: CallResult | undefined) =>
  result?.success === true && result.data !== "0x"
    ? decodeFunctionResult({ abi: signerAbi, functionName: "signer", data: result.data })
    : zeroAddress

const readingOf = (signed: Signed, results: ReadonlyArray<CallResult>, block: GuardedBlock): PermissionReading => {
  const { authorization, chain } = signed
  const { guard } = evmPolicy(chain)
  const permission = decodePermission(results)
  const signer = decodeSigner(results[4])
  // Of an enabled permission the chain shows the module that bounds it, whatever was signed.
  const isGuarded =
    permission?.isEnabled === true
      ? permission.policies.some((policy) => policy.toLowerCase() === guard?.contract.toLowerCase())
      : guard !== undefined
  return {
    permissionId: chain.permissionId,
    kind: isGuarded ? "guard" : "call_policy",
    state: stateOf(signed, permission, block),
    agent: signer === zeroAddress ? addressOf(authorization.agentAccountId) : fromViem(signer),
    validUntil: guard === undefined ? null : DateTime.makeUnsafe(guard.validUntil * 1000)
  }
}

const uintIn = (result: CallResult | undefined): bigint => {
  if (result?.success !== true || result.data === "0x") throw new Error("Multicall3 does not answer the block")
  return BigInt(result.data)
}

const checkOf = ({ data, reads, target }: Named): PolicyCheck => ({ reads, to: fromViem(target), data })

export const readPolicy = Effect.fnUntraced(function* (grants: ReadonlyArray<Grant>, chainId: ChainId) {
  const signed = signedOn(grants, chainId)
  const latest = signed[0]
  if (latest === undefined) return yield* Effect.die(new Error(`No grant names chain ${chainId}`))
  const { accountId } = latest.chain
  const guard = signed.map(({ chain }) => evmPolicy(chain).guard?.contract).find((found) => found !== undefined)
  const ofPermissions = signed.flatMap(callsOf)
  const ofGuard = guard === undefined ? [] : guardCalls(toViem(guard), toViem(addressOf(accountId)))
  const results = yield* multicall(chainId, [...blockCalls, ...ofPermissions, ...ofGuard])
  return yield* Effect.try({
    try: (): ChainPolicy => {
      const [number, time, ...answers] = results
      const seconds = Number(uintIn(time))
      const ruled = guard === undefined ? undefined : decodeGuard(toViem(guard), answers.slice(ofPermissions.length))
      const permissions = signed.map((one, index) => {
        const own = answers.slice(index * callsPerPermission, (index + 1) * callsPerPermission)
        const rules = evmPolicy(one.chain).guard?.contract === guard ? ruled?.account : undefined
        return readingOf(one, own, { guards: rules, seconds })
      })
      return {
        chainId,
        accountId,
        blockNumber: uintIn(number),
        blockTime: DateTime.makeUnsafe(seconds * 1000),
        isDeployed: decodePermission(answers.slice(0, callsPerPermission)) !== undefined,
        permissions,
        allowed: signed.flatMap(({ authorization, chain }, index) =>
          ["active", "unused"].includes(permissions[index]!.state) ? allowedCalls(authorization, chain) : []
        ),
        guard: ruled?.reading ?? null,
        checks: [...ofPermissions, ...ofGuard].map(checkOf)
      }
    },
    catch: () => new ChainUnavailable({ chainId, reason: `${accountId} or its guard does not answer as such` })
  })
})
