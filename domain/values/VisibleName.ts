/**
 * What a name that people read may hold: what they can see, in the order in which they see it. Control characters,
 * those that turn the direction of text, and those without a width make two names look alike, or one like nothing.
 * Source: Unicode Standard, 23.2 to 23.4; UTR 36, "Bidirectional Text Spoofing".
 */
import { Schema } from "effect"

/** Every kind of them, but for the selector that makes a symbol an emoji; and the blank pattern of Braille. */
const unseen = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u2800]|(?!\ufe0f)\p{Default_Ignorable_Code_Point}/u
const seen = /[\p{L}\p{N}\p{P}\p{S}]/u

export const isVisibleName = Schema.makeFilter((value: string) => !unseen.test(value) && seen.test(value), {
  expected: "a name that can be seen, without control, direction and zero-width characters"
})
