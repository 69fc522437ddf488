/**
 * The agent's permission as the account's modules enforce it: an ECDSA signer, and a policy that lets nothing pass but
 * exact kinds of calls, each without native value. Where the owner signed the guard, the guard is that policy
 * (contracts/GuardPolicy.sol). Otherwise it is a call policy:
 *
 * 1. `approve` of any token for the router. An allowance of the router is spent by the account alone.
 * 2. `swapExactTokensForTokens` over one hop: recipient the account, path of exactly two tokens, the last one listed.
 * 3. `swapExactTokensForTokensSupportingFeeOnTransferTokens` over two hops: the same through a connector token. It has
 *    the same arguments; a policy holds one rule set a function, and a path of another length needs its own.
 * 4. `settle` of the withdrawal executor, which itself demands the owner's signature over recipient, time and nonce.
 * 5. Where the owner's chains are connected: `deposit` of the bridge, of the one listed token, to listed chains and
 * tokens,
 *    depositor and recipient the account, without a message; and `approve` for the bridge too. An allowance of the
 *    bridge is spent by its caller's deposits alone. What arrives is not held.
 * 6. Where the owner allowed routes: `swap` of our contract for them, into a listed token, held against the venue's
 * direct
 *    price or the one through a connector token; and `approve` for it too. What it buys goes back to its caller, and an
 *    allowance of it is spent by its caller's swaps alone.
 *
 * The offset and the length of the path are pinned because calldata may lay a dynamic argument out anywhere: an
 * unpinned path would let a stolen key swap into a worthless token of its own. The signer is not valid for ERC-1271,
 * else the agent alone could sign permits in the account's name.
 */
import { CallPolicyVersion, ParamCondition, toCallPolicy } from "@zerodev/permissions/policies"
import { ECDSA_SIGNER_CONTRACT, PolicyFlags } from "@zerodev/permissions"
import {
  type Address,
  concatHex,
  encodeAbiParameters,
  getAbiItem,
  type Hex,
  pad,
  toFunctionSelector,
  toHex,
  zeroAddress
} from "viem"
import type { EvmAddress } from "#domain/values/Caip.ts"
import type { AgentPolicy, BridgePolicy, TradeGuardPolicy } from "#domain/account/Authorization.ts"
import { closedRoot } from "#layers/evm/account/closedList.ts"
import { toViem } from "#layers/evm/address.ts"
import { routedSwapAbi, spokePoolAbi, withdrawalExecutor, withdrawalExecutorAbi } from "#layers/evm/contracts.ts"
import { signedBits } from "#layers/evm/tradeGuard.ts"

const approve = toFunctionSelector("approve(address,uint256)")

const settle = toFunctionSelector(getAbiItem({ abi: withdrawalExecutorAbi, name: "settle" }))

const deposit = toFunctionSelector(getAbiItem({ abi: spokePoolAbi, name: "deposit" }))

const swapOverRoute = toFunctionSelector(getAbiItem({ abi: routedSwapAbi, name: "swap" }))

const swapArguments = "(uint256,uint256,address[],address,uint256)"
const swapOneHop = toFunctionSelector(`swapExactTokensForTokens${swapArguments}`)
const swapTwoHops = toFunctionSelector(`swapExactTokensForTokensSupportingFeeOnTransferTokens${swapArguments}`)

/**
 * Byte offsets of the words of a swap's arguments, and where a regular encoding puts the path: after the five words.
 */
const argument = { pathOffset: 64, to: 96, pathLength: 160, path: 192 } as const
const pathPosition = 160n

/** Words of 32 bytes. */
const numberWord = (value: bigint): Hex => toHex(value, { size: 32 })
const addressWord = (address: EvmAddress): Hex => pad(toViem(address), { size: 32 })

const equal = (offset: number, word: Hex) => ({ condition: ParamCondition.EQUAL, offset, params: [word] })

const oneOf = (offset: number, words: ReadonlyArray<Hex>) => ({
  condition: ParamCondition.ONE_OF,
  offset,
  params: [...words]
})

/** Pins recipient and shape of the path, and lists what each token after the first may be. */
const swapRules = (account: EvmAddress, allowedAfterFirst: ReadonlyArray<ReadonlyArray<EvmAddress>>) => [
  equal(argument.to, addressWord(account)),
  equal(argument.pathOffset, numberWord(pathPosition)),
  equal(argument.pathLength, numberWord(BigInt(allowedAfterFirst.length + 1))),
  ...allowedAfterFirst.map((allowed, index) => oneOf(argument.path + 32 * (index + 1), allowed.map(addressWord)))
]

/** Byte offsets of the words of a deposit's arguments, and where a regular encoding puts its message. */
const depositArgument = {
  depositor: 0,
  recipient: 32,
  inputToken: 64,
  outputToken: 96,
  destinationChainId: 192,
  exclusiveRelayer: 224,
  exclusivity: 320,
  messageOffset: 352,
  messageLength: 384
} as const
const messagePosition = 384n

const depositRules = (account: EvmAddress, { destinations, token }: BridgePolicy) => [
  equal(depositArgument.depositor, addressWord(account)),
  equal(depositArgument.recipient, addressWord(account)),
  equal(depositArgument.inputToken, addressWord(token)),
  oneOf(
    depositArgument.outputToken,
    destinations.map((destination) => addressWord(destination.token))
  ),
  oneOf(
    depositArgument.destinationChainId,
    destinations.map(({ chainId }) => numberWord(BigInt(chainId)))
  ),
  equal(depositArgument.exclusiveRelayer, numberWord(0n)),
  equal(depositArgument.exclusivity, numberWord(0n)),
  equal(depositArgument.messageOffset, numberWord(messagePosition)),
  equal(depositArgument.messageLength, numberWord(0n))
]

/** Byte offsets of the words of a routed swap's terms. */
const termsArgument = { buy: 64, hub: 128 } as const

const routedRules = ({ connectorTokens, tokens }: AgentPolicy) => [
  oneOf(termsArgument.buy, tokens.map(addressWord)),
  oneOf(termsArgument.hub, [numberWord(0n), ...connectorTokens.map(addressWord)])
]

/** What the agent is permitted on one chain. */
export interface AgentPermission {
  readonly policy: AgentPolicy
  readonly account: EvmAddress
  readonly agent: Address
  /** False for accounts from before withdrawals, which have no executor to call. */
  readonly settles: boolean
}

const callPolicy = ({ account, policy, settles }: AgentPermission) => {
  const router = toViem(policy.router)
  const { bridge, routedSwap } = policy
  const spenders = [policy.router, bridge?.contract, routedSwap].filter((spender) => spender !== undefined)
  return toCallPolicy({
    policyVersion: CallPolicyVersion.V0_0_4,
    permissions: [
      { target: zeroAddress, selector: approve, valueLimit: 0n, rules: [oneOf(0, spenders.map(addressWord))] },
      { target: router, selector: swapOneHop, valueLimit: 0n, rules: swapRules(account, [policy.tokens]) },
      ...(policy.connectorTokens.length === 0
        ? []
        : [
            {
              target: router,
              selector: swapTwoHops,
              valueLimit: 0n,
              rules: swapRules(account, [policy.connectorTokens, policy.tokens])
            }
          ]),
      ...(settles ? [{ target: withdrawalExecutor, selector: settle, valueLimit: 0n, rules: [] }] : []),
      ...(bridge === undefined
        ? []
        : [
            { target: toViem(bridge.contract), selector: deposit, valueLimit: 0n, rules: depositRules(account, bridge) }
          ]),
      ...(routedSwap === undefined
        ? []
        : [{ target: toViem(routedSwap), selector: swapOverRoute, valueLimit: 0n, rules: routedRules(policy) }])
    ]
  })
}

const feeData = ({ mostBps, recipient }: NonNullable<TradeGuardPolicy["serviceFee"]>): Hex =>
  concatHex([toViem(recipient), toHex(mostBps, { size: 1 })])

const recipientData = ({ account, chainId }: NonNullable<TradeGuardPolicy["recipients"]>[number]): Hex =>
  concatHex([toHex(chainId, { size: 8 }), account as Hex])

/**
 * The guard as the permission's policy: its rules are fixed in its code, so what is signed are times, limits, the root
 * of a closed list, fees, and recipients on other chains. Source: `onInstall` of contracts/GuardPolicy.sol.
 */
const guardPolicy = ({ contract, ...signed }: TradeGuardPolicy): Hex => {
  const { budgetBps, closedTokens, integratorFee, issuedAt, recipients, serviceFee, tradeBps, validUntil } = signed
  const parts: ReadonlyArray<readonly [bit: number, data: Hex | undefined]> = [
    [signedBits.closedList, closedTokens && closedRoot(closedTokens)],
    [signedBits.integratorFee, integratorFee && feeData(integratorFee)],
    [signedBits.serviceFee, serviceFee && feeData(serviceFee)],
    [signedBits.recipients, recipients && concatHex(recipients.map(recipientData))]
  ]
  const present = parts.filter(([, data]) => data !== undefined)
  return concatHex([
    PolicyFlags.FOR_ALL_VALIDATION,
    toViem(contract),
    toHex(issuedAt, { size: 5 }),
    toHex(validUntil, { size: 5 }),
    toHex(tradeBps, { size: 2 }),
    toHex(budgetBps, { size: 2 }),
    toHex(
      present.reduce((bits, [bit]) => bits | bit, 0),
      { size: 1 }
    ),
    ...present.map(([, data]) => data!)
  ])
}

const policyData = (permission: AgentPermission): Hex => {
  if (permission.policy.guard !== undefined) return guardPolicy(permission.policy.guard)
  const calls = callPolicy(permission)
  return concatHex([calls.getPolicyInfoInBytes(), calls.getPolicyData()])
}

/** `validatorData` of Kernel's `Enable` message: one entry a policy, then the signer. */
export const permissionData = (permission: AgentPermission): Hex =>
  encodeAbiParameters(
    [{ type: "bytes[]" }],
    [[policyData(permission), concatHex([PolicyFlags.NOT_FOR_VALIDATE_SIG, ECDSA_SIGNER_CONTRACT, permission.agent])]]
  )
