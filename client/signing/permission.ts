/** What an account stores of a permission, computed from its parts. */
import {
  type Address,
  concatHex,
  encodeAbiParameters,
  type Hex,
  keccak256,
  pad,
  toFunctionSelector,
  toHex,
  zeroAddress
} from "viem"
import {
  callPolicyContract,
  ecdsaSigner,
  forAllValidation,
  notForSignatures,
  selectors,
  withdrawalExecutor
} from "#client/signing/contracts.ts"
import { merkleRoot } from "#client/signing/merkleRoot.ts"
import type { SignedChain } from "#client/signing/stage1.ts"

export type SignedPolicy = SignedChain["policy"]

/** Conditions of the call policy on a word of a call's arguments. */
const condition = { equal: 0, oneOf: 6 } as const

interface Rule {
  readonly condition: number
  /** Position of the word within the call's arguments, in bytes. */
  readonly offset: bigint
  readonly params: ReadonlyArray<Hex>
}

/** Words of 32 bytes. */
const numberWord = (value: bigint): Hex => toHex(value, { size: 32 })
const addressWord = (address: string): Hex => pad(address as Address, { size: 32 })

const isWord = (offset: number, word: Hex): Rule => ({
  condition: condition.equal,
  offset: BigInt(offset),
  params: [word]
})

const isOneOf = (offset: number, words: ReadonlyArray<Hex>): Rule => ({
  condition: condition.oneOf,
  offset: BigInt(offset),
  params: words
})

/** A swap that pays the account itself, over a path of exactly so many tokens, each after the first a listed one. */
const swapRules = (account: string, listed: ReadonlyArray<ReadonlyArray<string>>) => [
  isWord(96, addressWord(account)),
  isWord(64, numberWord(160n)),
  isWord(160, numberWord(BigInt(listed.length + 1))),
  ...listed.map((tokens, index) => isOneOf(224 + 32 * index, tokens.map(addressWord)))
]

const call = (target: string, signature: string, rules: ReadonlyArray<Rule>) => ({
  callType: "0x00" as const,
  target: target as Address,
  selector: toFunctionSelector(signature),
  valueLimit: 0n,
  rules
})

const callsOf = (policy: SignedPolicy, account: string, settles: boolean) => {
  const { bridge, connectorTokens, routedSwap, router, tokens } = policy
  const spenders = [router, bridge?.contract, routedSwap].filter((spender) => spender !== undefined)
  return [
    call(zeroAddress, selectors.approve, [isOneOf(0, spenders.map(addressWord))]),
    call(router, selectors.swapOneHop, swapRules(account, [tokens])),
    ...(connectorTokens.length === 0
      ? []
      : [call(router, selectors.swapTwoHops, swapRules(account, [connectorTokens, tokens]))]),
    ...(settles ? [call(withdrawalExecutor, selectors.settle, [])] : []),
    ...(bridge === undefined
      ? []
      : [
          call(bridge.contract, selectors.deposit, [
            isWord(0, addressWord(account)),
            isWord(32, addressWord(account)),
            isWord(64, addressWord(bridge.token)),
            isOneOf(
              96,
              bridge.destinations.map(({ token }) => addressWord(token))
            ),
            isOneOf(
              192,
              bridge.destinations.map(({ chainId }) => numberWord(BigInt(chainId)))
            ),
            isWord(224, numberWord(0n)),
            isWord(320, numberWord(0n)),
            isWord(352, numberWord(384n)),
            isWord(384, numberWord(0n))
          ])
        ]),
    ...(routedSwap === undefined
      ? []
      : [
          call(routedSwap, selectors.swapOverRoute, [
            isOneOf(64, tokens.map(addressWord)),
            isOneOf(128, [numberWord(0n), ...connectorTokens.map(addressWord)])
          ])
        ])
  ]
}

const callsType = {
  type: "tuple[]",
  components: [
    { name: "callType", type: "bytes1" },
    { name: "target", type: "address" },
    { name: "selector", type: "bytes4" },
    { name: "valueLimit", type: "uint256" },
    {
      name: "rules",
      type: "tuple[]",
      components: [
        { name: "condition", type: "uint8" },
        { name: "offset", type: "uint64" },
        { name: "params", type: "bytes32[]" }
      ]
    }
  ]
} as const

const closedLeaf = (token: string): Hex =>
  keccak256(keccak256(encodeAbiParameters([{ type: "address" }], [token as Address])))

/** One byte that says what follows, a bit each; then a closed list, two fees, and recipients on other chains. */
const besideLimits = ({
  closedTokens,
  integratorFee,
  recipients,
  serviceFee
}: NonNullable<SignedPolicy["guard"]>): ReadonlyArray<Hex> => {
  let bits = 0
  const data: Array<Hex> = []
  if (closedTokens !== undefined) {
    bits += 1
    data.push(merkleRoot(closedTokens.map(closedLeaf)))
  }
  for (const [bit, fee] of [
    [2, integratorFee],
    [4, serviceFee]
  ] as const) {
    if (fee === undefined) continue
    bits += bit
    data.push(fee.recipient as Address, toHex(fee.mostBps, { size: 1 }))
  }
  if (recipients !== undefined) {
    bits += 8
    for (const { account, chainId } of recipients) data.push(toHex(chainId, { size: 8 }), account as Hex)
  }
  return [toHex(bits, { size: 1 }), ...data]
}

const policyData = (policy: SignedPolicy, account: string, settles: boolean): Hex => {
  const { guard } = policy
  if (guard === undefined) {
    const calls = encodeAbiParameters([callsType], [callsOf(policy, account, settles)])
    return concatHex([forAllValidation, callPolicyContract, calls])
  }
  return concatHex([
    forAllValidation,
    guard.contract as Address,
    toHex(guard.issuedAt, { size: 5 }),
    toHex(guard.validUntil, { size: 5 }),
    toHex(guard.tradeBps, { size: 2 }),
    toHex(guard.budgetBps, { size: 2 }),
    ...besideLimits(guard)
  ])
}

/** `validatorData` of the account's `Enable` message. `settles`: the account has the withdrawal executor. */
export const permissionData = (options: {
  readonly policy: SignedPolicy
  readonly account: string
  readonly agent: string
  readonly settles: boolean
}): Hex =>
  encodeAbiParameters(
    [{ type: "bytes[]" }],
    [
      [
        policyData(options.policy, options.account, options.settles),
        concatHex([notForSignatures, ecdsaSigner, options.agent as Address])
      ]
    ]
  )
