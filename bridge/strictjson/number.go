package strictjson

import (
	"errors"
	"strconv"
	"strings"
)

// ErrInexact is the cause of an error for a number that a double cannot
// represent exactly.
var ErrInexact = errors.New("a double cannot represent the number exactly")

// isDouble reports whether a JSON number, in any notation, is the shortest
// decimal number for its double.
func isDouble(s string) bool {
	f, err := strconv.ParseFloat(s, 64)
	return err == nil && sameDecimal(s, strconv.FormatFloat(f, 'e', -1, 64))
}

// sameDecimal reports whether two decimal numbers are exactly equal.
func sameDecimal(a, b string) bool {
	an, ad, ae := decimal(a)
	bn, bd, be := decimal(b)
	return ad == bd && (ad == "" || an == bn && ae == be)
}

// decimal splits a number into its sign, its digits without leading and
// trailing zeros, and the power of ten of the last digit.
func decimal(s string) (negative bool, digits string, exponent int) {
	s, negative = strings.TrimPrefix(s, "-"), strings.HasPrefix(s, "-")
	if n := strings.IndexAny(s, "eE"); n >= 0 {
		exponent, _ = strconv.Atoi(s[n+1:]) // ParseFloat accepted it, so a huge exponent means zero or another value
		s = s[:n]
	}
	whole, fraction, _ := strings.Cut(s, ".")
	exponent -= len(fraction)
	digits = strings.TrimLeft(whole+fraction, "0")
	cut := strings.TrimRight(digits, "0")
	return negative, cut, exponent + len(digits) - len(cut)
}
