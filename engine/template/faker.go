package template

import (
	"math/big"
	"math/rand/v2"
	"strconv"

	"github.com/brianvoe/gofakeit/v7"

	"github.com/mockbase/mockbase"
)

// fakers are the kinds of data that faker draws. Those that depend on today's date are left out, as a seed could not repeat
// them, and so are those whose length a caller chooses.
var fakers = map[string]func(f *gofakeit.Faker) string{
	"name": (*gofakeit.Faker).Name, "firstName": (*gofakeit.Faker).FirstName, "lastName": (*gofakeit.Faker).LastName,
	"middleName": (*gofakeit.Faker).MiddleName, "namePrefix": (*gofakeit.Faker).NamePrefix,
	"nameSuffix": (*gofakeit.Faker).NameSuffix, "gender": (*gofakeit.Faker).Gender, "ssn": (*gofakeit.Faker).SSN,
	"hobby": (*gofakeit.Faker).Hobby, "school": (*gofakeit.Faker).School, "language": (*gofakeit.Faker).Language,

	"email": (*gofakeit.Faker).Email, "username": (*gofakeit.Faker).Username, "phone": (*gofakeit.Faker).Phone,
	"phoneFormatted": (*gofakeit.Faker).PhoneFormatted, "url": (*gofakeit.Faker).URL,
	"domain": (*gofakeit.Faker).DomainName, "ipv4": (*gofakeit.Faker).IPv4Address, "ipv6": (*gofakeit.Faker).IPv6Address,
	"mac": (*gofakeit.Faker).MacAddress, "httpMethod": (*gofakeit.Faker).HTTPMethod, "emoji": (*gofakeit.Faker).Emoji,

	"street": (*gofakeit.Faker).Street, "streetName": (*gofakeit.Faker).StreetName,
	"streetNumber": (*gofakeit.Faker).StreetNumber, "city": (*gofakeit.Faker).City, "state": (*gofakeit.Faker).State,
	"stateCode": (*gofakeit.Faker).StateAbr, "zip": (*gofakeit.Faker).Zip, "country": (*gofakeit.Faker).Country,
	"countryCode": (*gofakeit.Faker).CountryAbr, "timeZone": (*gofakeit.Faker).TimeZone,
	"latitude": decimal((*gofakeit.Faker).Latitude), "longitude": decimal((*gofakeit.Faker).Longitude),

	"company": (*gofakeit.Faker).Company, "companySuffix": (*gofakeit.Faker).CompanySuffix,
	"jobTitle": (*gofakeit.Faker).JobTitle, "jobLevel": (*gofakeit.Faker).JobLevel, "slogan": (*gofakeit.Faker).Slogan,
	"buzzword": (*gofakeit.Faker).BuzzWord, "bank": (*gofakeit.Faker).BankName, "iban": iban,
	"bitcoinAddress": (*gofakeit.Faker).BitcoinAddress, "currency": (*gofakeit.Faker).CurrencyLong,
	"currencyCode": (*gofakeit.Faker).CurrencyShort, "creditCardType": (*gofakeit.Faker).CreditCardType,
	"creditCardNumber": creditCard, "creditCardCvv": (*gofakeit.Faker).CreditCardCvv, "price": price,

	"product": (*gofakeit.Faker).ProductName, "productCategory": (*gofakeit.Faker).ProductCategory,
	"productDescription": (*gofakeit.Faker).ProductDescription, "productMaterial": (*gofakeit.Faker).ProductMaterial,
	"upc": (*gofakeit.Faker).ProductUPC, "color": (*gofakeit.Faker).Color, "hexColor": (*gofakeit.Faker).HexColor,
	"carMaker": (*gofakeit.Faker).CarMaker, "carModel": (*gofakeit.Faker).CarModel, "animal": (*gofakeit.Faker).Animal,
	"fruit": (*gofakeit.Faker).Fruit, "vegetable": (*gofakeit.Faker).Vegetable, "drink": (*gofakeit.Faker).Drink,
	"bookTitle": (*gofakeit.Faker).BookTitle, "bookAuthor": (*gofakeit.Faker).BookAuthor,
	"movie": (*gofakeit.Faker).MovieName, "appName": (*gofakeit.Faker).AppName, "appVersion": (*gofakeit.Faker).AppVersion,
	"fileExtension": (*gofakeit.Faker).FileExtension, "mimeType": (*gofakeit.Faker).FileMimeType,

	"word": (*gofakeit.Faker).Word, "noun": (*gofakeit.Faker).Noun, "verb": (*gofakeit.Faker).Verb,
	"adjective": (*gofakeit.Faker).Adjective, "sentence": sentence, "paragraph": paragraph,
	"question": (*gofakeit.Faker).Question, "quote": (*gofakeit.Faker).Quote,
	"month": (*gofakeit.Faker).MonthString, "weekday": (*gofakeit.Faker).WeekDay,
}

// fakedNumbers are the kinds whose data are numbers in JSON.
var fakedNumbers = map[string]bool{"latitude": true, "longitude": true, "price": true}

func faker(r *run, arguments []any) (any, error) {
	name := textOf(arguments[0])
	if err := verifyFaker(r.cache, name); err != nil {
		return nil, err
	}
	rng, err := r.scope.random()
	if err != nil {
		return nil, err
	}
	data := fakers[name](gofakeit.NewFaker(source64{rng: rng}, false))
	if fakedNumbers[name] {
		return number(data), nil
	}
	return data, nil
}

func verifyFaker(_ *cache, name string) error {
	if _, ok := fakers[name]; ok {
		return nil
	}
	message := "there are no data of the kind " + shorten(name)
	if near := mockbase.Suggest(name, sortedKeys(fakers)); near != "" {
		message += "; did you mean " + near + "?"
	}
	return failure(message)
}

// source64 hands the generator on without its methods, which the library would change its behaviour by.
type source64 struct{ rng *rand.Rand }

// Uint64 draws 64 bits.
func (s source64) Uint64() uint64 { return s.rng.Uint64() }

func decimal(draw func(*gofakeit.Faker) float64) func(*gofakeit.Faker) string {
	return func(f *gofakeit.Faker) string { return strconv.FormatFloat(draw(f), 'f', 6, 64) }
}

func creditCard(f *gofakeit.Faker) string { return f.CreditCardNumber(nil) }

func price(f *gofakeit.Faker) string { return strconv.FormatFloat(f.Price(1, 1000), 'f', 2, 64) }

func sentence(f *gofakeit.Faker) string { return f.Sentence() }

func paragraph(f *gofakeit.Faker) string { return f.Paragraph() }

// iban draws a German IBAN with right check digits (ISO 13616): 98 less the remainder of account, country and 00 by 97.
func iban(f *gofakeit.Faker) string {
	const digits, country, modulus = 18, "131400", 97
	account := f.DigitN(digits)
	n, ok := new(big.Int).SetString(account+country, 10)
	if !ok {
		return ""
	}
	check := modulus + 1 - new(big.Int).Mod(n, big.NewInt(modulus)).Int64()
	text := strconv.FormatInt(check, 10)
	if len(text) < 2 {
		text = "0" + text
	}
	return "DE" + text + account
}
