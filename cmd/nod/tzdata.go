package main

// The binary brings the time zones with it, because containers and Windows may
// not have them.
import _ "time/tzdata"
