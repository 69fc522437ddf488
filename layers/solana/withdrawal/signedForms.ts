/**
 * The bytes that a wallet signs for a text. Software wallets sign the text as it is; a Ledger signs it in the envelope
 * of off-chain messages alone, of version 0 or 1, so that it is never a transaction. Of version 0 there is an older
 * header without signers, which the Solana CLI writes.
 *
 * Source: docs.anza.xyz, "Off-chain message signing", and sRFC 38.
 */
const signingDomain = Uint8Array.from([0xff, ...new TextEncoder().encode("solana offchain")])
/** Nobody in particular: the text names who it is for. */
const applicationDomain = new Uint8Array(32)
/** Printable ASCII, and UTF-8 of up to 1,212 bytes. */
const formats = [0, 1] as const

const lengthOf = ({ length }: Uint8Array): Uint8Array => Uint8Array.of(length % 256, Math.floor(length / 256))

const join = (...parts: ReadonlyArray<Uint8Array>): Uint8Array => Uint8Array.from(Buffer.concat([...parts]))

/** All forms in which this key may have signed the text. */
export const signedForms = (text: string, key: Uint8Array): ReadonlyArray<Uint8Array> => {
  const body = new TextEncoder().encode(text)
  const version = (number: number) => Uint8Array.of(number)
  const one = Uint8Array.of(1)
  return [
    body,
    ...formats.flatMap((number) => {
      const format = Uint8Array.of(number)
      return [
        join(signingDomain, version(0), applicationDomain, format, one, key, lengthOf(body), body),
        join(signingDomain, version(0), format, lengthOf(body), body)
      ]
    }),
    join(signingDomain, version(1), one, key, body)
  ]
}
