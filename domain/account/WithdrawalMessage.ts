/**
 * What an owner signs to take assets out of a portfolio: the message of shapes 2.22, in exactly the form in which stage
 * 1 issues it. Every text is part of what is signed, so identifiers are accepted in their canonical spelling only.
 */
import { Schema } from "effect"
import { Hex } from "effect/encoding"
import { AccountId, type AssetId, anyPattern, HeldAssetId, isNative } from "#domain/values/Caip.ts"
import { Bytes32 } from "#domain/account/Authorization.ts"
import { PortfolioId } from "#domain/values/Ids.ts"

/** Most assets that one withdrawal names. */
export const maxWithdrawalAssets = 50

const largestAmount = 2n ** 256n - 1n

/**
 * An amount as it is signed: a positive integer in the token's smallest unit that fits into 256 bits, without leading
 * zeros.
 */
export const RawAmount = Schema.String.check(
  Schema.makeFilter((text) => BigInt(/^[0-9]{1,78}$/u.test(text) ? text : "0") <= largestAmount, {
    expected: "an amount that fits into 256 bits"
  }),
  Schema.isPattern(/^[1-9][0-9]{0,77}$/u, { expected: "a positive integer in raw units, without leading zeros" })
).annotate({ examples: ["1500500000"] })

/** The identifier's text itself, refused when it is not spelled as this service spells it. */
const canonical = <Id extends string>(
  id: Schema.Codec<Id, string>,
  pattern: RegExp,
  example: string
): Schema.Codec<Id, string> => {
  const decode = Schema.decodeUnknownOption(id)
  return Schema.String.annotate({ description: "Value that stage 1 issued.", examples: [example] }).check(
    Schema.makeFilter(
      (text) => {
        const decoded = decode(text)
        return decoded._tag === "Some" && decoded.value === text
      },
      {
        expected: "the value that stage 1 issued, unchanged",
        toJsonSchema: () => ({ pattern: pattern.source })
      }
    )
  ) as unknown as Schema.Codec<Id, string>
}

export const WithdrawalMessage = Schema.Struct({
  portfolioId: PortfolioId,
  recipientAccountId: canonical(
    AccountId,
    anyPattern.account,
    "eip155:8453:0x8617E340B3D01FA5F11F306F4090FD50E238070D"
  ),
  assets: Schema.Array(
    Schema.Struct({
      assetId: canonical(HeldAssetId, anyPattern.held, "eip155:8453/erc20:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"),
      amountRaw: RawAmount
    })
  ).check(Schema.isBetweenLength(1, maxWithdrawalAssets, { expected: `1 to ${maxWithdrawalAssets} assets` })),
  /**
   * 32 random bytes; an authorization is carried out once. Of the native coin the last eight are the account's next
   * nonce.
   */
  nonce: Bytes32,
  /** The last second since 1970 in which it may be carried out. */
  expiresAt: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 253_402_300_799 })),
  /** Present when the assets are sold first and the settlement asset is delivered. */
  liquidate: Schema.optionalKey(Schema.Literal(true))
})
export type WithdrawalMessage = typeof WithdrawalMessage.Type

/** The tokens that a message is about. */
export const tokensOf = ({
  assets
}: Pick<WithdrawalMessage, "assets">): ReadonlyArray<{ readonly assetId: AssetId; readonly amountRaw: string }> =>
  assets.flatMap(({ amountRaw, assetId }) => (isNative(assetId) ? [] : [{ assetId, amountRaw }]))

/** The native coin that a message is about, which is withdrawn alone. */
export const nativeOf = ({ assets }: Pick<WithdrawalMessage, "assets">) =>
  assets.find(({ assetId }) => isNative(assetId))

/** 32 random bytes, as the message has them. */
export const withdrawalNonce = (bytes: Uint8Array) => `0x${Hex.encode(bytes)}`

/**
 * A message as a client sent it: its portfolio may be another one, and its recipient invalid. `Withdrawals` makes it a
 * `WithdrawalMessage` once it has checked both.
 */
export type SentMessage = Omit<WithdrawalMessage, "portfolioId" | "recipientAccountId"> & {
  readonly portfolioId: string
  readonly recipientAccountId: string
}

/** A message with the owner's signature over it, in hex. */
export const SignedWithdrawal = Schema.Struct({ message: WithdrawalMessage, signature: Schema.String })
export type SignedWithdrawal = typeof SignedWithdrawal.Type
