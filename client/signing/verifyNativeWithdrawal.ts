/**
 * Computes again what stage 1 of a withdrawal of a native coin asks to sign: the hash of the account's user operation.
 * Sources: ERC-4337 (EntryPoint 0.7, `getUserOpHash`), Kernel 0.3.1 (nonce, `execute`), ERC-7579.
 */
import {
  type Address,
  concatHex,
  encodeAbiParameters,
  encodeFunctionData,
  type Hex,
  hexToBigInt,
  keccak256,
  numberToHex,
  parseAbiParameters,
  slice,
  stringToHex
} from "viem"
import type { DataOf } from "#client/plain/Call.ts"
import { Altered, requireSame } from "#client/signing/Altered.ts"
import { entryPoint, kernelAbi } from "#client/signing/contracts.ts"
import { asText, type ExpectedWithdrawal, untilOf, verifyMessage } from "#client/signing/verifyWithdrawal.ts"

type Operation = Extract<DataOf<"prepareWithdrawal">, { readonly operation: unknown }>["operation"]
type Message = Operation["message"]

const oneCall: Hex = `0x${"00".repeat(32)}`
/** Key of the nonce: mode, type of validation, twenty bytes that Kernel does not read, two free ones. */
const key = concatHex(["0x0000", slice(keccak256(stringToHex("withdrawals of the native coin")), 12), "0x0000"])
/** Gas for a key's signature, for the payment, and for the transaction's bytes. */
const gas = { verification: 500_000n, contractOwner: 1_500_000n, call: 300_000n, before: 100_000n }

const textOf = (message: Message) =>
  [
    "Withdrawal of the native coin",
    `portfolioId: ${message.portfolioId}`,
    `recipientAccountId: ${message.recipientAccountId}`,
    ...message.assets.map(({ amountRaw, assetId }) => `${assetId} ${amountRaw}`),
    `nonce: ${message.nonce}`,
    `expiresAt: ${message.expiresAt}`
  ].join("\n")

const halves = (high: bigint, low: bigint) =>
  concatHex([numberToHex(high, { size: 16 }), numberToHex(low, { size: 16 })])

interface PaidBy {
  readonly account: Address
  readonly chainId: bigint
  /** The account's owner is a contract. */
  readonly isContract: boolean
}

const operationHash = (message: Message, { account, chainId, isContract }: PaidBy): Hex => {
  const [, , recipient] = message.recipientAccountId.split(":")
  const amount = BigInt(message.assets[0]?.amountRaw ?? "0")
  const call = encodeFunctionData({
    abi: kernelAbi,
    functionName: "execute",
    args: [oneCall, concatHex([recipient as Address, numberToHex(amount, { size: 32 })])]
  })
  const nonce = hexToBigInt(concatHex([key, slice(message.nonce as Hex, 24)]))
  const verification = gas.verification + (isContract ? gas.contractOwner : 0n)
  const operation = encodeAbiParameters(
    parseAbiParameters("address, uint256, bytes32, bytes32, bytes32, uint256, bytes32, bytes32"),
    [
      account,
      nonce,
      keccak256("0x"),
      keccak256(concatHex([call, keccak256(stringToHex(textOf(message)))])),
      halves(verification, gas.call),
      gas.before,
      halves(0n, 0n),
      keccak256("0x")
    ]
  )
  return keccak256(
    encodeAbiParameters(parseAbiParameters("bytes32, address, uint256"), [keccak256(operation), entryPoint, chainId])
  )
}

/** Throws `Altered` with the part's name; answers what the signature does, a sentence each. */
export const verifyNativeWithdrawal = (
  { accountId, message, signed }: Operation,
  expected: Omit<ExpectedWithdrawal, "liquidate">
): ReadonlyArray<string> => {
  verifyMessage({ message }, expected)
  const [, chainId, account] = accountId.split(":")
  const [, expectedChain, recipient] = expected.recipientAccountId.split(":")
  requireSame(
    "operation.accountId",
    { given: chainId ?? "", expected: expectedChain ?? "" },
    "is on another chain than the recipient"
  )
  if (expected.account !== undefined) {
    requireSame(
      "operation.accountId",
      { given: account ?? "", expected: expected.account },
      "is not the portfolio's account"
    )
  }
  const [held, ...others] = message.assets
  if (held === undefined || others.length > 0 || held.assetId.startsWith(`eip155:${chainId}/slip44:`) === false) {
    throw new Altered("operation.message.assets", "are not the native coin of the account's chain alone")
  }
  if (signed.kind === "solana-message") throw new Altered("operation.signed.kind", "is for owners with a Solana key")
  const isContract = signed.kind === "typed-data"
  const hash = operationHash(message, { account: account as Address, chainId: BigInt(chainId ?? "0"), isContract })
  const given = isContract ? signed.typedData.message.hash : signed.raw
  requireSame("operation.signed", { given, expected: hash }, "is not the operation that pays the recipient")
  if (isContract) {
    requireSame(
      "operation.signed.typedData.domain",
      {
        given: `${signed.typedData.domain.chainId}:${signed.typedData.domain.verifyingContract}`,
        expected: `${chainId}:${account}`
      },
      "is not that of the portfolio's account"
    )
  }
  return [
    `Takes out ${asText(message.assets)} from ${account} on chain ${chainId}.`,
    `All of it goes to ${recipient}.`,
    `${untilOf(message).replace("It can be carried out once, until", "The service carries it out once, until")} The signature itself holds until the account's next withdrawal of the native coin.`
  ]
}
