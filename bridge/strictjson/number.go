package strictjson

import (
	"errors"
	"strconv"
	"strings"
)

// ErrInexact is the cause of the error about a number that a double does not
// hold exactly.
var ErrInexact = errors.New("a double does not hold the number exactly")

// isDouble reports whether a JSON number is the decimal number that stands for
// its double, in any spelling.
func isDouble(s string) bool {
	f, err := strconv.ParseFloat(s, 64)
	return err == nil && sameDecimal(s, strconv.FormatFloat(f, 'e', -1, 64))
}

// sameDecimal reports whether two decimal numbers are equal, exactly.
func sameDecimal(a, b string) bool {
	an, ad, ae := decimal(a)
	bn, bd, be := decimal(b)
	return ad == bd && (ad == "" || an == bn && ae == be)
}

// decimal takes a number apart: whether it is negative, its digits without
// zeros around them, and the power of ten of the last one.
func decimal(s string) (negative bool, digits string, exponent int) {
	s, negative = strings.TrimPrefix(s, "-"), strings.HasPrefix(s, "-")
	if n := strings.IndexAny(s, "eE"); n >= 0 {
		exponent, _ = strconv.Atoi(s[n+1:]) // ParseFloat took it; a huge one belongs to a zero or is not equal
		s = s[:n]
	}
	whole, fraction, _ := strings.Cut(s, ".")
	exponent -= len(fraction)
	digits = strings.TrimLeft(whole+fraction, "0")
	cut := strings.TrimRight(digits, "0")
	return negative, cut, exponent + len(digits) - len(cut)
}
