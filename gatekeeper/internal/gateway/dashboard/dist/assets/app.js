var z,no,ns,We,rn,Rt,oo,Ct,ro,an,sn,os,pt=Symbol.for("pv"),Ot={},It=[],rs=/^m(i|n|o|s|text|space)$/,ln=Array.isArray,cn=It.slice,tt=Object.assign;function et(e){e&&e.parentNode&&e.remove()}function so(e,t,n){var o,a,r,i={},l=arguments.length;for(r in t)r=="key"?o=t[r]:r=="ref"&&typeof e!="function"?a=t[r]:i[r]=t[r];return l>2&&(i.children=l>3?cn.call(arguments,2):n),ut(e,i,o,a,null)}function ut(e,t,n,o,a){var r={type:e,props:t,key:n,ref:o,__k:null,__:null,__b:0,__e:null,__c:null,constructor:pt,__v:a||++no,__i:-1,__u:0};return!a&&z.vnode&&z.vnode(r),r}function At(e){return e.children}function st(e,t){this.props=e,this.context=t,this.__g=0}function He(e,t){if(t==null)return e.__&&He(e.__,e.__i+1);for(var n;t<e.__k.length;t++)if((n=e.__k[t])&&n.__e)return n.__e;return typeof e.type!="function"||e.props.__P?null:He(e)}function ss(e){var t,n=e.__v,o=n.__e,a=[],r=[],i=e.__P;i&&((t=tt({constructor:pt},n)).__v=n.__v+1,z.vnode&&z.vnode(t),un(i,t,n,e.__n,i.namespaceURI,32&n.__u?[o]:null,a,o||He(n),32&n.__u,r),t.__v=n.__v,t.__.__k[t.__i]=t,po(a,t,r),n.__=n.__e=null,t.__e!=o&&ao(t))}function ao(e){if((e=e.__)&&e.__c&&!e.props.__P)return e.__e=null,e.__k.some(function(t){return t&&(e.__e=t.__e)}),ao(e)}function eo(e){(8&e.__g||(e.__g|=8,We.push(e),Rt++))&&rn==z.debounceRendering||((rn=z.debounceRendering)||queueMicrotask)(io)}function io(){try{for(var e,t=1;We.length;)We.length>t&&We.sort(oo),e=We.shift(),t=We.length,8&e.__g&&ss(e)}finally{(Rt=We.length)&&(rn||queueMicrotask)(io)}}function lo(e,t,n,o,a,r,i,l,u,p,c){var $,f,d,m,_,g,v=o.__k||It,w=t.length;for(u=as(n,t,v,u,w),$=0;$<w;$++)(d=n.__k[$])!=null&&(f=~d.__i&&v[d.__i]||Ot,d.__i=$,g=un(e,d,f,a,r,i,l,u,p,c),m=d.__e,(f.ref!=d.ref||8&f.__u)&&(f.ref&&pn(f.ref,null,d,f),d.ref&&c.push(d.ref,d.__c||m,d)),_=_||m,4&d.__u?(u=co(d,u,e,!f.__v),f.__e&&(f.__e=null)):typeof d.type=="function"&&g!==void 0?u=g:m&&(u=m.nextSibling),d.__u&=-21);return n.__e=_,u}function as(e,t,n,o,a){var r,i,l,u,p,c,$,f,d,m=n.length,_=m,g=0,v=0,w=e.__k=Array(a);for(r=0;r<a;r++)(i=t[r])!=null&&typeof i!="boolean"&&typeof i!="function"?(typeof i!="object"||i.constructor===String?i=w[r]=ut(null,i):ln(i)?i=w[r]=ut(At,{children:i}):i.constructor===pt&&i.__b?i=w[r]=ut(i.type,i.props,i.key,i.ref,i.__v):w[r]=i,u=r+g,i.__=e,i.__b=e.__b+1,l=null,~(p=i.__i=is(i,n,u,_))&&(_--,(l=n[p])&&(l.__u|=2)),l&&l.__v?(i.__u|=16,p==u-1?g--:p==u+1?g++:p!=u&&(p>u?g--:g++,v=1)):(~p||(a>m?g--:a<m&&g++),typeof i.type!="function"&&(i.__u|=4))):w[r]=null;if(v){for(c=[],$=[],r=0;r<a;r++)if((i=w[r])&&16&i.__u){for(g=0,f=c.length;g<f;)c[d=g+f>>1]<i.__i?g=d+1:f=d;c[g]=i.__i,$[r]=g+1}for(g=c.length;r--;)$[r]&&($[r]==g?g--:w[r].__u|=4)}if(_)for(r=0;r<m;r++)!(l=n[r])||2&l.__u||(l.__e==o&&(o=He(l)),dn(l,l));return o}function co(e,t,n,o){var a,r,i,l;if(typeof e.type=="function"){if(e.props.__P)return t;if(a=e.__k)for(r=0;r<a.length;r++)a[r]&&(a[r].__=e,t=co(a[r],t,n,!1));return t}for(t&&!t.parentNode&&(t=He(e))&&!t.parentNode&&(t=null),i=e.__e,l=t;l&&l.nodeType==8;)l=l.nextSibling;for(i!=l&&(!o&&n.moveBefore&&i.parentNode?n.moveBefore(i,t):n.insertBefore(i,t||null)),t=i;(t=t&&t.nextSibling)&&t.nodeType==8&&!t.data.startsWith("$s"););return t}function is(e,t,n,o){var a,r=e.key,i=e.type,l=t[n],u=l&&!(2&l.__u);if(l===null&&r==null||u&&r==l.key&&i==l.type)return n;if(o>(u?1:0)){for(a=n-1;a>=0;a--)if((l=t[a])&&!(2&l.__u)&&r==l.key&&i==l.type)return a;for(a=n+1;a<t.length;a++)if((l=t[a])&&!(2&l.__u)&&r==l.key&&i==l.type)return a}return-1}function to(e,t,n){n==null&&(n=""),t[0]=="-"?e.setProperty(t,n):e[t]=n}function St(e,t,n,o,a){var r,i;if(t=="style")if(typeof n=="string")e.style.cssText=n;else{if(typeof o=="string"&&(e.style.cssText=o=""),o)for(t in o)n&&t in n||to(e.style,t);if(n)for(t in n)o&&n[t]==o[t]||to(e.style,t,n[t])}else if(t[0]=="o"&&t[1]=="n")typeof n!="function"&&(n=null),typeof o!="function"&&(o=null),(e.__e||(e.__e={}))[t]=n,n&&o||(i=sn[t]||(sn[t]=ls(t)),(e.__a||(e.__a={}))[t]=an,r=t!=(t=t.replace(ro,"$1")),(t=t.slice(2))[0]<"a"&&(t=t.toLowerCase()),n?e.addEventListener(t,i,r):e.removeEventListener(t,i,r));else{if(a=="http://www.w3.org/2000/svg")t=t.replace(/xlink(H|:h)/,"h").replace(/sName$/,"s");else if(t!="width"&&t!="height"&&t!="href"&&t!="list"&&t!="form"&&t!="tabIndex"&&t!="download"&&t!="rowSpan"&&t!="colSpan"&&t!="role"&&t!="popover"&&t in e)try{return void(e[t]=n??"")}catch{}if(typeof n=="function")return;n==null||n===!1&&t[4]!="-"?e.removeAttribute(t):e.setAttribute(t,t=="popover"&&n==1?"":n)}}function ls(e){return function(t){var n=this.__e;if(n){if(n=n[e],t[Ct]==null)t[Ct]=an++;else if(t[Ct]<this.__a[e])return;return n(z.event?z.event(t):t)}}}function un(e,t,n,o,a,r,i,l,u,p){var c,$,f,d,m,_,g,v,w,D,A,k,Y,ie,le,he,re,J,ee=t.type;if(t.constructor!==pt)return null;128&n.__u&&(u=32&n.__u,c=n.__c.__z)&&(t.__u|=u,$=r=[],c.nodeType==8?l=Dt(c,r):r.push(c),l=r[0]||l),(c=z.__b)&&c(t);e:if(typeof ee=="function"){f=i.length;try{if(v=t.props,w=(c=ee.prototype)&&c.render,D=(c=ee.contextType)&&o[c.__c],A=c?D?D.props.value:c.__:o,(d=n.__c)?(t.__c=d,2&d.__g&&(d.__g|=1)):(w?t.__c=d=new ee(v,A):(t.__c=d=new st(v,A),d.constructor=ee,d.render=us),D&&D.sub(d),d.state||(d.state={}),d.__n=o,d.__g|=8,d.__h=[],d.__k=[]),w&&(d.__s||(d.__s=d.state),ee.getDerivedStateFromProps&&(d.__s==d.state&&(d.__s=tt({},d.__s)),tt(d.__s,ee.getDerivedStateFromProps(v,d.__s)))),m=d.props,_=d.state,d.__v=t,n.__c){if(v!==m&&w&&!ee.getDerivedStateFromProps&&d.componentWillReceiveProps&&d.componentWillReceiveProps(v,A),t.__v==n.__v&&!(8&d.__g)||!(4&d.__g)&&d.shouldComponentUpdate&&d.shouldComponentUpdate(v,d.__s,A)===!1){t.__v!=n.__v&&(d.props=v,d.state=d.__s,d.__g&=-9),t.__e=n.__e,t.__k=n.__k,t.__k.some(function(b){b&&(b.__=t)}),It.push.apply(d.__h,d.__k),d.__k=[],d.__h.length&&i.push(d),l=He(n);break e}d.componentWillUpdate&&d.componentWillUpdate(v,d.__s,A),w&&d.componentDidUpdate&&d.__h.push(function(){d.componentDidUpdate(m,_,g)})}else w&&!ee.getDerivedStateFromProps&&d.componentWillMount&&d.componentWillMount(),w&&d.componentDidMount&&d.__h.push(d.componentDidMount);d.context=A,d.props=v,d.__P=e,d.__g&=-5,k=z.__r,Y=w?25:0;do d.__g&=-9,k&&k(t),c=d.render(d.props,d.state=d.__s,d.context);while(8&d.__g&&++Y<25);w&&(It.push.apply(d.__h,d.__k),d.__k=[]),d.state=d.__s,d.getChildContext&&(o=tt({},o,d.getChildContext())),w&&n.__c&&d.getSnapshotBeforeUpdate&&(g=d.getSnapshotBeforeUpdate(m,_)),ie=c&&c.type===At&&c.key==null?c.props.children:c,v.__P&&(c=l,a=(e=v.__P).namespaceURI,u=r=null,n.props&&n.props.__P!=e&&(n.__k.some(function(b){b&&dn(b,b)}),n.__k=null),l=n.__k?He(n,0):null),l=lo(e,ln(ie)?ie:[ie],t,n,o,a,r,i,l,u,p),v.__P&&(t.__e=null,l=c),t.__u&=-161,$&&$.some(et),d.__h.length&&i.push(d),1&d.__g&&(d.__g&=-4)}catch(b){if(i.length=f,t.__v=null,u||r)if(b&&b.then){if(t.__u|=128|u,r){for(~(re=r.indexOf(l||void 0))||(re=r.length);(J=r[re-1])&&J.nodeType==8;)re--;for(;re<r.length;re++)if(J=r[re])if(r[re]=null,le){if(J==he)break}else{if(J.nodeType!=8)break;J.data.startsWith("$s")&&(he=Dt(le=J))}}if(!le){for(;l&&l.nodeType==8&&l.nextSibling;)l=l.nextSibling;le=l}(c=Dt(le=t.__c.__z||(t.__c.__z=le)))?(t.__e=le,l=c):t.__e=l,l=l&&l.nextSibling}else r&&r.some(et);else t.__e=n.__e;t.__k||(t.__k=n.__k||[]),b&&b.then||uo(t),z.__e(b,t,n)}}else l=t.__e=cs(n.__e,t,n,o,a,r,i,u,p,e);return(c=z.diffed)&&c(t),l}function Dt(e,t){if(e&&e.nodeType==8&&e.data.startsWith("$s"))for(var n=1;e=e.nextSibling;){if(e.nodeType==8){if(e.data.startsWith("$s"))n++;else if(e.data.startsWith("/$s")&&!--n)return e}t&&t.push(e)}}function uo(e){e&&(e.__c&&(e.__c.__g|=4),e.__k&&e.__k.some(uo))}function po(e,t,n){for(var o=0;o<n.length;)pn(n[o++],n[o++],n[o++]);z.__c&&z.__c(t,e),e.some(function(a){try{e=a.__h,a.__h=[],e.some(function(r){r.call(a)})}catch(r){z.__e(r,a.__v)}})}function cs(e,t,n,o,a,r,i,l,u,p){var c,$,f,d,m,_,g,v,w=n.props||Ot,D=t.props,A=t.type;if(A=="svg"?a="http://www.w3.org/2000/svg":A=="math"?a="http://www.w3.org/1998/Math/MathML":a||(a="http://www.w3.org/1999/xhtml"),r){for(c=0;c<r.length;c++)if((m=r[c])&&(A?m.localName==A:m.nodeType==3)){e=m,r[c]=null;break}}if(!e){if(v=p.ownerDocument||document,!A)return v.createTextNode(D);e=v.createElementNS(a,A,D.is?D:p),l&&(z.__m&&z.__m(t,r),l=!1),r=null}if(A){if(p=A=="template"&&e.content||e,r=A=="textarea"&&D.defaultValue!=null?null:r&&cn.call(p.childNodes),!l&&r)for(w={},c=0;c<e.attributes.length;c++)w[(m=e.attributes[c]).name]=m.value;for(c in w)m=w[c],c=="dangerouslySetInnerHTML"?f=m:c=="children"||c in D||c=="value"&&"defaultValue"in D||c=="checked"&&"defaultChecked"in D||St(e,c,null,m,a);for(c in D)m=D[c],c=="children"?d=m:c=="dangerouslySetInnerHTML"?$=m:c=="value"?_=m:c=="checked"?g=m:l&&typeof m!="function"||w[c]===m||St(e,c,m,w[c],a);$?(l||f&&($.__html==f.__html||$.__html==e.innerHTML)||(e.innerHTML=$.__html),t.__k=[]):(f&&(e.textContent=""),(A=="foreignObject"||a=="http://www.w3.org/1998/Math/MathML"&&rs.test(A))&&(a="http://www.w3.org/1999/xhtml"),lo(p,ln(d)?d:[d],t,n,o,a,r,i,r?r[0]:n.__k&&He(n,0),l,u),r&&r.some(et)),l&&A!="textarea"||(c="value",A=="progress"&&_==null?e.removeAttribute(c):_==null||_===e[c]&&(A!="progress"||_)||St(e,c,_,w[c],a),c="checked",g!=null&&g!=e[c]&&St(e,c,g,w[c],a))}else w===D||l&&e.data==D||(e.data=D);return e}function pn(e,t,n,o){try{typeof e=="function"?t?t.__x=e(t)||1:o&&(o=o.__c||o.__e)&&(t=o.__x)&&(o.__x=null,typeof t=="function"?t():e(null)):e.current=t}catch(a){z.__e(a,n)}}function dn(e,t,n){var o,a,r,i;if(z.unmount&&z.unmount(e),!(o=e.ref)||o.current&&o.current!=e.__e||pn(o,null,t,e),o=e.__c){if(o.componentWillUnmount)try{o.componentWillUnmount()}catch(l){z.__e(l,t)}o.__P=o.__n=null}if(o=e.__k)for(i=0;i<o.length;i++)o[i]&&dn(o[i],t,typeof e.type!="function"||n&&!e.props.__P);!n&&(o=e.__c)&&(o=o.__z)&&(a=Dt(o,r=[]))&&(o==e.__e&&r.some(et),et(a),et(o)),n||et(e.__e),e.__e=e.__c=e.__=null}function us(e,t,n){return this.constructor(e,n)}function mo(e,t){var n,o,a,r;z.__&&z.__(e,t),t.nodeType==9&&(t=t.documentElement),o=(n=e&&32&e.__u)?null:t.__k,t.__k=ut(At,{children:[e]}),a=[],r=[],un(t,t.__k,o||Ot,Ot,t.namespaceURI,o?null:t.firstChild?cn.call(t.childNodes):null,a,o?o.__e:t.firstChild,n,r),po(a,t.__k,r),t.__k.props.children=null}z={__e:function(e,t,n,o){for(var a,r,i;t=t.__;)if((a=t.__c)&&!(1&a.__g)){a.__g|=4;try{if((i=(r=a.constructor)&&r.getDerivedStateFromError)&&a.setState(r.getDerivedStateFromError(e)),a.componentDidCatch&&(a.componentDidCatch(e,o||{}),i=1),i&&8&a.__g)return void(a.__g|=2)}catch(l){e=l}}throw Rt=0,e}},no=0,ns=function(e){return e!=null&&e.constructor===pt},st.prototype.setState=function(e,t){var n=this.__s;n&&n!=this.state||(n=this.__s=tt({},this.state)),typeof e=="function"&&(e=e(tt({},n),this.props)),e&&(tt(n,e),this.__v&&(t&&this.__k.push(t),eo(this)))},st.prototype.forceUpdate=function(e){this.__v&&(this.__g|=4,e&&this.__h.push(e),eo(this))},st.prototype.render=At,We=[],Rt=0,oo=function(e,t){return e.__v.__b-t.__v.__b},Ct=Symbol(),ro=/(PointerCapture)$|Capture$/i,an=0,sn={},os=0;var nt,oe,mn,fo,fn=Object.is,Nt=0,ko=[],$n=[],ne=z,$o=ne.__b,ho=ne.__r,go=ne.diffed,_o=ne.__c,bo=ne.unmount,vo=ne.__;function mt(e,t){ne.__h&&ne.__h(oe,e,Nt||t),Nt=0;var n=oe.__H||(oe.__H={__:[],__h:[]});return e>=n.__.length&&n.__.push({}),n.__[e]}function h(e){return Nt=1,ps(Eo,e)}function ps(e,t,n){var o=mt(nt++,2);if(o.t=e,!o.__c&&(o.__=[n?n(t):Eo(void 0,t),function(r){var i=(o.__N||o.__)[0],l=o.t(i,r);fn(i,l)||(o.__N=[l,o.__[1]],o.__c.setState({}))}],o.__c=oe,!oe.__f)){oe.__f=!0;var a=oe.shouldComponentUpdate;oe.shouldComponentUpdate=function(r,i,l){var u=this.__H;if(!u)return!0;var p=!1,c=this.props!=r;if(u.__.some(function(f){f.__N&&(p=!0,fn(f.__[0],f.__N[0])||(c=!0))}),a){var $=a.call(this,r,i,l);return p?$||c:$}return!p||c}}return o.__}function x(e,t){var n=mt(nt++,3);!ne.__s&&gn(n.__H,t)&&(n.__P=!0,n.__=e,n.u=t,oe.__H.__h.push(n))}function ft(e,t){var n=mt(nt++,4);!ne.__s&&gn(n.__H,t)&&(n.__P=!1,n.__=e,n.u=t,oe.__h.push(n))}function V(e){return Nt=5,de(function(){return{current:e}},[])}function de(e,t){var n=mt(nt++,7);return gn(n.__H,t)&&(n.__=e(),n.__H=t),n.__}function $t(){var e=mt(nt++,11);if(!e.__){for(var t=oe.__v;!t.__m&&t.__;)t=t.__;var n=t.__m||(t.__m=[0,0]);e.__="P"+n[0]+"-"+n[1]++}return e.__}function ds(){var e;do{for(;e=$n.shift();)try{dt(e)}catch(n){ne.__e(n,{__:(e=e.__P)&&e.__v})}for(;e=ko.shift();){var t=e.__H;if(e.__P&&t)try{t.__h.some(dt),t.__h.some(hn),t.__h=[]}catch(n){t.__h=[],ne.__e(n,e.__v)}}}while($n.length)}ne.__b=function(e){oe=null,$o&&$o(e)},ne.__=function(e,t){e&&t.__k&&t.__k.__m&&(e.__m=t.__k.__m),vo&&vo(e,t)},ne.__r=function(e){ho&&ho(e),nt=0;var t=(oe=e.__c).__H;t&&(mn==oe?oe.__h=[]:(t.__h.some(dt),t.__h.some(hn),nt=0),t.__h=[],t.__.some(function(n){n.__N&&(n.__=n.__N),n.u=n.__N=void 0})),mn=oe},ne.diffed=function(e){go&&go(e);var t=e.__c;t&&t.__H&&(t.__H.__h.length&&wo(ko.push(t)),t.__H.__.some(function(n){n.u&&(n.__H=n.u)})),mn=oe=null},ne.__c=function(e,t){t.some(function(n){try{n.__h.some(dt),n.__h=n.__h.filter(function(o){return!o.__||hn(o)})}catch(o){n.__h=[function(){throw o}]}}),_o&&_o(e,t)},ne.unmount=function(e){bo&&bo(e);var t,n,o=e.__c;o&&o.__H&&(o.__H.__.some(function(a){try{if(a.__P&&a.__c){if(n===void 0){for(n=e.__;n&&(!n.__c||!n.__c.__P);)n=n.__;n=n&&n.__c}a.__P=n,wo($n.push(a))}else dt(a)}catch(r){t=r}}),o.__H=void 0,t&&ne.__e(t,o.__v))};var yo=typeof requestAnimationFrame=="function";function ms(e){var t,n=function(){clearTimeout(o),yo&&cancelAnimationFrame(t),setTimeout(e)},o=setTimeout(n,35);yo&&(t=requestAnimationFrame(n))}function wo(e){e!=1&&fo==ne.requestAnimationFrame||((fo=ne.requestAnimationFrame)||ms)(ds)}function dt(e){var t=oe,n=e.__c;typeof n=="function"&&(e.__c=void 0,n()),oe=t}function hn(e){var t=oe;e.__c=e.__(),oe=t}function gn(e,t){return!e||e.length!=t.length||t.some(function(n,o){return!fn(n,e[o])})}function Eo(e,t){return typeof t=="function"?t(e):t}var To=function(e,t,n,o){var a;t[0]=0;for(var r=1;r<t.length;r++){var i=t[r++],l=t[r]?(t[0]|=i?1:2,n[t[r++]]):t[++r];i===3?o[0]=l:i===4?o[1]=Object.assign(o[1]||{},l):i===5?(o[1]=o[1]||{})[t[++r]]=l:i===6?o[1][t[++r]]+=l+"":i?(a=e.apply(l,To(e,l,n,["",null])),o.push(a),l[0]?t[0]|=2:(t[r-2]=0,t[r]=a)):o.push(l)}return o},xo=new Map;function So(e){var t=xo.get(this);return t||(t=new Map,xo.set(this,t)),(t=To(this,t.get(e)||(t.set(e,t=(function(n){for(var o,a,r=1,i="",l="",u=[0],p=function(f){r===1&&(f||(i=i.replace(/^\s*\n\s*|\s*\n\s*$/g,"")))?u.push(0,f,i):r===3&&(f||i)?(u.push(3,f,i),r=2):r===2&&i==="..."&&f?u.push(4,f,0):r===2&&i&&!f?u.push(5,0,!0,i):r>=5&&((i||!f&&r===5)&&(u.push(r,0,i,a),r=6),f&&(u.push(r,f,0,a),r=6)),i=""},c=0;c<n.length;c++){c&&(r===1&&p(),p(c));for(var $=0;$<n[c].length;$++)o=n[c][$],r===1?o==="<"?(p(),u=[u],r=3):i+=o:r===4?i==="--"&&o===">"?(r=1,i=""):i=o+i[0]:l?o===l?l="":i+=o:o==='"'||o==="'"?l=o:o===">"?(p(),r=1):r&&(o==="="?(r=5,a=i,i=""):o==="/"&&(r<5||n[c][$+1]===">")?(p(),r===3&&(u=u[0]),r=u,(u=u[0]).push(2,0,r),r=0):o===" "||o==="	"||o===`
`||o==="\r"?(p(),r=2):i+=o),r===3&&i==="!--"&&(r=4,u=u[0])}return p(),u})(e)),t),arguments,[])).length>1?t:t[0]}var s=So.bind(so);function me(e){let t=new Set;return{get:()=>e,set(n){if(!Object.is(n,e)){e=n;for(let o of[...t])o(e)}},subscribe(n){return t.add(n),()=>t.delete(n)}}}function B(e){let[t,n]=h(e.get());return x(()=>(n(e.get()),e.subscribe(n)),[e]),t}function Mt(e,t){let n=t;try{n=localStorage.getItem(e)??t}catch{}let o=me(n);return o.subscribe(a=>{try{localStorage.setItem(e,a)}catch{}}),o}var Lt=()=>location.pathname+location.search,ot=me(Lt()),Co=0;addEventListener("popstate",()=>ot.set(Lt()));function _e(e,{replace:t=!1}={}){e!==Lt()&&(t?history.replaceState(history.state,"",e):(Co++,history.pushState({depth:Co},"",e)),ot.set(Lt()))}function Do(){history.state?.depth>0?history.back():_e("/")}document.addEventListener("click",e=>{if(e.defaultPrevented||e.button!==0||e.metaKey||e.ctrlKey||e.shiftKey||e.altKey)return;let t=e.target.closest?.("a[href]");!t||t.target||t.hasAttribute("download")||t.origin!==location.origin||t.pathname.startsWith("/v1/")||(e.preventDefault(),t.hash&&t.pathname===location.pathname?document.getElementById(t.hash.slice(1))?.focus():_e(t.pathname+t.search))});function q(){let e=B(ot);return[de(()=>new URLSearchParams(e.split("?")[1]??""),[e]),(o,{replace:a=!0}={})=>{let r=new URLSearchParams(location.search);for(let[l,u]of Object.entries(o)){r.delete(l);for(let p of[u].flat())p&&r.append(l,p)}let i=r.toString();_e(location.pathname+(i?`?${i}`:""),{replace:a})}]}function se(e){x(()=>{document.title=e?`${e} · Gatekeeper`:"Gatekeeper"},[e])}function Ro(e,t){for(let[n,o]of t){let a=n.exec(e);if(a)try{return[o,a.slice(1).map(decodeURIComponent)]}catch{return null}}return null}function De(e,t,n=200){let[o,a]=h(e);return x(()=>a(e),[e]),x(()=>{if(o===e)return;let r=setTimeout(()=>t(o),n);return()=>clearTimeout(r)},[o]),[o,a]}var Re=me({online:!0}),Be=me(0),ht=null;function jt(){Re.get().online||(clearTimeout(ht),ht=null,Re.set({online:!0}),Be.set(Be.get()+1))}function gt(e){let t=Re.get();Re.set({online:!1,since:t.since??Date.now(),message:e}),ht===null&&(ht=setTimeout(Oo,1e3))}async function Oo(){try{let e=await fetch("/v1/definitions?page_size=1",{signal:AbortSignal.timeout(1e4)});if(e.status<500)return jt();let t=await e.json().catch(()=>null);t?.message&&Re.set({...Re.get(),message:t.message})}catch{}Re.get().online||(ht=setTimeout(Oo,1e3))}var Ke=class extends Error{constructor(t,n){super(n?.message||(t?`The server answered with status ${t}.`:"The server does not answer.")),this.name="APIError",this.status=t,this.code=n?.code??(t?"":"UNAVAILABLE"),this.reason=n?.reason??"",this.metadata=n?.metadata??{},this.fields=n?.fields??[],this.offline=t===0||t===502||t===503||t===504}};function G(e,...t){return String.raw({raw:e},...t.map(n=>encodeURIComponent(n)))}function Ft(e={}){let t=new URLSearchParams;for(let[o,a]of Object.entries(e))for(let r of Array.isArray(a)?a:[a])r!=null&&r!==""&&r!==!1&&r!==0&&t.append(o,r);let n=t.toString();return n?`?${n}`:""}var _n=0n,Io=0,ze=()=>Date.now()+Io;function Pt(){let e=crypto.getRandomValues(new Uint8Array(16));return{request_id:`dashboard-${Array.from(e,n=>n.toString(16).padStart(2,"0")).join("")}`,request_revision:_n.toString()}}function fs(e){try{let t=BigInt(e?.revision??0);t>_n&&(_n=t)}catch{}}async function je(e,t,{query:n,body:o,signal:a}={}){let r={method:e,signal:a,headers:{Accept:"application/json"}};o!==void 0&&(r.headers["Content-Type"]="application/json",r.body=JSON.stringify(o));let i,l=null;try{i=await fetch(t+Ft(n),r),l=await i.json().catch(()=>null)}catch(u){throw a?.aborted?u:(gt("The server does not answer."),new Ke(0))}return qt(i,l)}function qt(e,t){let n=Date.parse(e.headers.get("Date")??"");if(n){let a=n-Date.now();Io=Math.abs(a)>2e3?a:0}if(e.ok)return jt(),fs(t),t??{};let o=new Ke(e.status,t);throw o.offline?gt(o.message):jt(),e.status===401&&$s(),o}var _t=e=>e<40?1e4:e<300?3e4:6e4,E=(e,t,n)=>je("GET",e,{query:t,signal:n}),T=(e,t,n)=>je("POST",e,{body:t,signal:n}),bt=(e,t,n)=>je("PUT",e,{body:t,signal:n}),Ao=(e,t)=>je("DELETE",e,{query:t});function $s(){if(location.pathname==="/login")return;let e=location.pathname+location.search;history.replaceState(null,"",`/login${Ft({next:e==="/"?"":e})}`),dispatchEvent(new PopStateEvent("popstate"))}async function Se(e,t,n,o,a=5e3){let r=[],i="";do{let l=await E(e,{page_size:1e3,...t,page_token:i},o);r.push(...l[n]??[]),i=l.next_page_token??""}while(i&&r.length<a);return{items:r,more:i!==""}}var y=e=>Number(e??0).toLocaleString("en"),C=(e,t,n)=>`${y(e)} ${Number(e)===1?t:n}`,N=e=>e?Math.round(parseFloat(e)*1e3):0;function ye(e){if(!e)return"0s";if(e<0)return`-${ye(-e)}`;let t="";for(let[n,o]of[["h",36e5],["m",6e4]]){let a=Math.floor(e/o);a&&(t+=a+n),e-=a*o}return e>=1e3||e&&t?t+=`${+(e/1e3).toFixed(3)}s`:e&&(t+=`${+e.toFixed(3)}ms`),t}function X(e){return e<0?"0s":e<1e4?ye(Math.round(e/100)*100):e<36e5?ye(Math.round(e/1e3)*1e3):e<48*36e5?ye(Math.round(e/6e4)*6e4):`${Math.floor(e/864e5)}d`}var at=e=>X(Math.max(0,Math.round(e/1e3))*1e3),hs={ms:1,s:1e3,m:6e4,h:36e5,d:864e5};function Ce(e){if(e=e.trim(),e==="")return;if(e==="0")return"0s";let t=0;if(e.replace(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g,(o,a,r)=>(t+=parseFloat(a)*hs[r],""))!=="")throw new Error(`“${e}” is not a duration. Write it as 90s, 5m, 1h30m or 2d.`);return`${+(t/1e3).toFixed(3)}s`}var Fe=e=>e==null?"":ye(N(e));var yt=(e="")=>{let t=e.charAt(0).toUpperCase()+e.slice(1);return/[.!?…]$/.test(t)?t:`${t}.`},vt=e=>String(e).padStart(2,"0");function M(e){if(!e)return"";let t=new Date(e);return`${`${t.getFullYear()}-${vt(t.getMonth()+1)}-${vt(t.getDate())}`} ${Ut(t)}`}var Ut=e=>`${vt(e.getHours())}:${vt(e.getMinutes())}:${vt(e.getSeconds())}`;function it(e){if(!e)return"";let t=new Date(e);return t.toDateString()===new Date(ze()).toDateString()?Ut(t):M(e)}function we(e){if(e=Number(e??0),e<1024)return`${e} B`;let t=-1;do e/=1024,t++;while(e>=1024&&t<3);return`${e<10?e.toFixed(1):Math.round(e)} ${["KiB","MiB","GiB","TiB"][t]}`}function Ve(e,t=3){let n=e.length-t;return e.slice(0,t).join(", ")+(n>0?` and ${y(n)} more`:"")}function bn(e){if(!e)return"";let t=Uint8Array.from(atob(e),n=>n.charCodeAt(0));try{return new TextDecoder("utf-8",{fatal:!0}).decode(t)}catch{return Array.from(t,n=>n.toString(16).padStart(2,"0")).join(" ")}}var Oe=me(null),Ht=Mt("author",""),be=()=>Oe.get()?.authenticated?{}:{author:Ht.get()||"dashboard"};async function vn(){let e=await E("/session");Oe.set({authenticates:e.authenticated??!1,...e}),Wt.clear()}async function No(e){await je("POST","/session",{body:{token:e}}),await vn()}async function Mo(){await je("DELETE","/session"),Oe.set(null)}var Wt=new Map;function gs(e){let t=JSON.stringify(e),n=Wt.get(t);return(!n||n.at<Date.now()-6e4)&&(n={at:Date.now(),answer:T("/v1/can-i",e)},n.answer.catch(()=>Wt.delete(t)),Wt.set(t,n)),n.answer}function Lo(e,t="",n="",o=""){let a=B(Oe),[r,i]=h("");return x(()=>{if(!e||!a?.authenticated)return i("");let l=!1;return gs({role:e,semaphore:t,group:n,acquirer:o}).then(u=>l||i(u.allowed?"":yt(u.reason)),()=>l||i("")),()=>l=!0},[e,t,n,o,a]),r}var _s=4e4,bs=5e3;function Fo(e,t,n){let o=!1,a=0,r=!1,i="",l=null,u=null,p=()=>{clearTimeout(u),l?.abort(),l=null},c=()=>{o=!0,p(),document.removeEventListener("visibilitychange",$)},$=()=>{document.hidden?p():l||d()},f=m=>{if(m.id&&(i=m.id),!m.data)return;let _=JSON.parse(m.data);if(m.type==="end")c(),n.end?.();else if(m.type==="error"){let g=new Ke(_.status??500,_);jo(_.code)||(c(),n.error?.(g))}else n[m.type]?.(_,m.id)};async function d(){clearTimeout(u);let m=l=new AbortController,_=null,g=()=>{clearTimeout(_),_=setTimeout(()=>m.abort(),_s)};try{g();let v={Accept:"text/event-stream"};i&&(v["Last-Event-ID"]=i);let w=await fetch(e+Ft(t),{headers:v,signal:m.signal});if(!w.ok||!w.headers.get("Content-Type")?.startsWith("text/event-stream"))throw qt(w,await w.json().catch(()=>null)),new Ke(500,{message:"The answer is not a stream of events."});a=0,qt(w,{}),n.open?.(r),r=!0,await vs(w.body,D=>!o&&f(D),g)}catch(v){v instanceof Ke?!v.offline&&!jo(v.code)&&v.status!==401?(c(),n.error?.(v)):v.status===401&&c():m.signal.aborted||gt("The connection to the server broke.")}finally{clearTimeout(_)}o||l!==m||(l=null,!document.hidden&&(a++,u=setTimeout(d,Math.min(bs,500*a)*(.75+Math.random()/2))))}return document.addEventListener("visibilitychange",$),document.hidden||d(),c}var jo=e=>["UNAVAILABLE","ABORTED","CANCELLED","DEADLINE_EXCEEDED","RESOURCE_EXHAUSTED","UNKNOWN"].includes(e);async function vs(e,t,n){let o=e.pipeThrough(new TextDecoderStream).getReader(),a="",r={type:"message",id:"",data:""};for(;;){let{value:i,done:l}=await o.read();if(l)return;n();let u=(a+i).split(`
`);a=u.pop();for(let p of u){if(p.endsWith("\r")&&(p=p.slice(0,-1)),p===""){t(r),r={type:"message",id:"",data:""};continue}let c=p.indexOf(":");if(c<=0)continue;let $=p.slice(c+1).replace(/^ /,"");switch(p.slice(0,c)){case"event":r.type=$;break;case"id":r.id=$;break;case"data":r.data+=$}}}}function S(e,t,{every:n=0,keep:o=!1}={}){let[a,r]=h({}),[i,l]=h(0),u=B(Be),p=JSON.stringify(t),c=V(e);c.current=e,x(()=>{if(e===null)return;let d=new AbortController;return c.current(d.signal).then(m=>d.signal.aborted||r({data:m,key:p}),m=>d.signal.aborted||r(_=>({..._,error:m,failed:p}))),()=>d.abort()},[p,i,u,e===null]),x(()=>{if(!n)return;let d=setInterval(()=>document.hidden||l(m=>m+1),n);return()=>clearInterval(d)},[n]);let $=a.key===p,f=a.failed===p?a.error:void 0;return{data:$||o?a.data:void 0,error:f,loading:!$&&!f,refresh:()=>l(d=>d+1),set:d=>r(m=>({...m,data:d(m.data)}))}}function Ae(e,t,n){let o=V(n);o.current=n;let a=JSON.stringify([e,t]);x(()=>{if(!e)return;let r=i=>(...l)=>o.current[i]?.(...l);return Fo(e,t,{message:r("message"),live:r("live"),missed:r("missed"),open:r("open"),error:r("error"),end:r("end")})},[a])}var yn=me(0),Po=null,qo=0;function Pe(){return x(()=>(qo++===0&&(Po=setInterval(()=>document.hidden||yn.set(yn.get()+1),1e3)),()=>{--qo===0&&clearInterval(Po)}),[]),B(yn)}function qe(e,t){let n=V(e);n.current=e;let o=V(null);return x(()=>()=>clearTimeout(o.current),[]),()=>{o.current===null&&(o.current=setTimeout(()=>{o.current=null,n.current()},t))}}function Bt(e){let[t,n]=h(()=>matchMedia(e).matches);return x(()=>{let o=matchMedia(e),a=()=>n(o.matches);return o.addEventListener("change",a),()=>o.removeEventListener("change",a)},[e]),t}function ke({what:e="Reading"}){return s`<p class="loading" role="status"><span class="dots" aria-hidden="true"></span>${e} …</p>`}function I({title:e,children:t}){return s`<div class="empty"><p class="empty-title">${e}</p>${t&&s`<p>${t}</p>`}</div>`}function H({error:e,retry:t}){if(!e)return null;let n=e.fields??[];return s`<div class="failure" role="alert">
    <p class="failure-text">${yt(e.message)}</p>
    ${e.code==="UNAUTHENTICATED"&&s`<p>Log in again.</p>`}
    ${n.length>0&&s`<ul>${n.map(o=>s`<li><code>${o.field}</code>: ${o.rule}</li>`)}</ul>`}
    ${e.offline&&s`<p>Whether a change was made is then not known. The activity page shows it. The same button again does nothing twice.</p>`}
    <p class="row">
      ${t&&s`<button type="button" onClick=${t}>Try again</button>`}
      ${(e.reason||e.code)&&s`<span class="faint">${e.reason||e.code}</span>`}
    </p>
  </div>`}function W({of:e,what:t,children:n}){return e.data===void 0?e.error&&!e.error.offline?s`<${H} error=${e.error} retry=${e.refresh} />`:s`<${ke} what=${t} />`:s`${e.error&&!e.error.offline&&s`<${H} error=${e.error} retry=${e.refresh} />`}${n(e.data)}`}function Uo(){let e=B(Re);return Pe(),e.online?s`<div role="status" class="sr-only"></div>`:s`<div class="offline" role="status">
    <strong>${yt(e.message)}</strong>
    <span> What is shown is as of ${Ut(new Date(e.since))}. This page asks again every second, and recovers without you.</span>
  </div>`}var wt=me([]),ys=0;function Ee(e,{tone:t="run",action:n}={}){wt.set([...wt.get().slice(-2),{id:++ys,text:e,tone:t,action:n}])}var wn=e=>wt.set(wt.get().filter(t=>t.id!==e));function ws({id:e,text:t,tone:n,action:o}){return x(()=>{let a=setTimeout(()=>wn(e),o?3e4:12e3);return()=>clearTimeout(a)},[e]),s`<div class="notice tone-${n}">
    <span>${t}</span>
    ${o&&s`<button type="button" onClick=${()=>(wn(e),o.run())}>${o.text}</button>`}
    <button type="button" class="plain" aria-label="Dismiss" onClick=${()=>wn(e)}>×</button>
  </div>`}function Wo(){let e=B(wt);return s`<div class="notices" role="status">${e.map(t=>s`<${ws} key=${t.id} ...${t} />`)}</div>`}function L({role:e,semaphore:t,group:n,acquirer:o,why:a,kind:r="",children:i,onClick:l,type:u="button",...p}){let c=Lo(e,t,n,o),$=$t(),f=c||a;return s`<span class="action">
    <button
      type=${f?"button":u}
      class=${r}
      aria-disabled=${f?"true":void 0}
      aria-describedby=${f?$:void 0}
      onClick=${f?void 0:l}
      ...${p}
    >${i}</button>
    ${f&&s`<span class="why" role="tooltip" id=${$}>${f}</span>`}
  </span>`}function ce({title:e,onClose:t,wide:n,firm:o,children:a}){let r=V(null),i=$t();return ft(()=>{let l=document.activeElement,u=r.current;return u.showModal(),()=>{u.close(),l?.isConnected&&l.focus()}},[]),s`<dialog
    ref=${r}
    class=${n?"wide":""}
    aria-labelledby=${i}
    onCancel=${l=>(l.preventDefault(),t())}
    onMouseDown=${l=>!o&&l.target===r.current&&t()}
  >
    <div class="dialog-body">
      <header class="dialog-head">
        <h2 id=${i}>${e}</h2>
        <button type="button" class="plain" aria-label="Close" onClick=${t}>×</button>
      </header>
      ${a}
    </div>
  </dialog>`}function Ho({label:e,help:t,error:n,children:o,class:a=""}){let r=$t(),i=[t&&`${r}-help`,n&&`${r}-error`].filter(Boolean).join(" ")||void 0;return s`<div class="field ${a}">
    <label for=${r}>${e}</label>
    ${o({id:r,"aria-describedby":i,"aria-invalid":n?"true":void 0})}
    ${t&&s`<p class="help" id="${r}-help">${t}</p>`}
    ${n&&s`<p class="error" id="${r}-error" role="alert">${n}</p>`}
  </div>`}function O({label:e,help:t,error:n,value:o,onInput:a,area:r,class:i,...l}){return s`<${Ho} label=${e} help=${t} error=${n} class=${i}>
    ${u=>r?s`<textarea rows=${r} value=${o} onInput=${p=>a(p.target.value)} ...${u} ...${l}></textarea>`:s`<input value=${o} onInput=${p=>a(p.target.value)} autocomplete="off" spellcheck=${!1} ...${u} ...${l} />`}
  <//>`}function xe({label:e,help:t,error:n,value:o,options:a,onChange:r,class:i}){return s`<${Ho} label=${e} help=${t} error=${n} class=${i}>
    ${l=>s`<select value=${o} onChange=${u=>r(u.target.value)} ...${l}>
      ${a.map(([u,p])=>s`<option value=${u} selected=${u===o}>${p}</option>`)}
    </select>`}
  <//>`}function fe({label:e,help:t,checked:n,onChange:o}){let a=$t();return s`<div class="check">
    <input type="checkbox" id=${a} checked=${n} aria-describedby=${t?`${a}-help`:void 0} onChange=${r=>o(r.target.checked)} />
    <label for=${a}>${e}</label>
    ${t&&s`<span class="help" id="${a}-help">${t}</span>`}
  </div>`}function lt({of:e,query:t="tab",label:n}){let[o]=q(),a=o.get(t)??e[0][0],r=i=>{let l=new URLSearchParams(o);i===e[0][0]?l.delete(t):l.set(t,i);let u=l.toString();return location.pathname+(u?`?${u}`:"")};return s`<nav class="tabs" aria-label=${n}>
    ${e.map(([i,l])=>s`<a href=${r(i)} aria-current=${i===a?"page":void 0}>${l}</a>`)}
  </nav>`}function Bo(e){let t=V(e);t.current=e,x(()=>{let n=o=>{if(o.defaultPrevented||o.ctrlKey||o.metaKey||o.altKey||document.querySelector("dialog[open]"))return;let a=/^(INPUT|TEXTAREA|SELECT)$/.test(o.target.tagName);a&&o.key!=="Escape"||t.current[o.key]?.(o,a)};return addEventListener("keydown",n),()=>removeEventListener("keydown",n)},[])}function j(e,t){return!e||e===`${t}UNSPECIFIED`?"":e.slice(t.length).toLowerCase().replaceAll("_"," ")}var Kt=[{value:"DEFINITION_STATE_DISABLED",word:"disabled",tone:"deny",help:"A pattern cannot be used: nobody is let in."},{value:"DEFINITION_STATE_CORDONED",word:"cordoned",tone:"deny",help:"Cordons alone keep its callers out."},{value:"DEFINITION_STATE_DENIED",word:"denied",tone:"deny",help:"Callers are denied, and nobody gets a permit, until somebody acts."},{value:"DEFINITION_STATE_HELD",word:"held for an operator",tone:"stop",help:"A slot is held until an operator clears it."},{value:"DEFINITION_STATE_MISSED",word:"missed",tone:"stop",help:"Expected work is missed: it is silent."},{value:"DEFINITION_STATE_STOPPING",word:"stopping",tone:"stop",help:"A holder must stop."},{value:"DEFINITION_STATE_PAUSED",word:"paused",tone:"pause",help:"Nobody is let in until the pause ends."},{value:"DEFINITION_STATE_WAITING",word:"waiting",tone:"wait",help:"Somebody waits in the queue."},{value:"DEFINITION_STATE_RUNNING",word:"running",tone:"run",help:"Somebody holds a permit."},{value:"DEFINITION_STATE_IDLE",word:"idle",tone:"idle",help:"Nothing takes a slot."}],ks={value:"",word:"unknown",tone:"idle",help:""},Ko=e=>Kt.find(t=>t.value===e)??ks,kt=e=>Kt.filter(t=>e.states?.includes(t.value));function zo(e){let t=kt(e)[0];return e.pause&&t?.word==="paused"?e.pause.until?`paused until ${it(e.pause.until)}`:"paused":t?.word??"unknown"}function zt(e){let t=[];e.disabled&&t.push(`Disabled: ${e.disabled}`),e.pause&&t.push(Es(e.pause)),e.missed&&t.push(xs(e.missed));for(let n of(e.denied??[]).slice(0,1))t.push(`${F(n.identity)} is denied: ${n.message}`);for(let n of e.ends??[])t.push(`${n.fields.join(", ")}: as it is until ${M(n.until)}, then its value of before.`);return[...t,...e.warnings??[]]}function Es(e){let t=e.until?`Paused until ${M(e.until)}`:"Paused until it is resumed";return e.reason&&(t+=`: ${e.reason}`),e.stop&&(t+=e.drain?`. Holders must stop within ${X(N(e.drain))}`:". Holders must stop"),`${t}. By ${e.author||"somebody"}.`}function xs(e){let t=j(e.kind,"MISSED_KIND_");return e.text||`Missed: ${t}${e.reason?` (${j(e.reason,"REASON_")})`:""}`}var F=e=>`${e?.acquirer??""} in ${e?.group||"default"}`;function Vo(e){let t=j(e.state,"PERMIT_STATE_")||"live";t==="held"&&(t="held for an operator"),e.drain_left&&(t+=`, draining for ${X(N(e.drain_left))}`);let n=j(e.stop,"STOP_CAUSE_");return n&&(t+=`, stopping: ${n}${e.stop_reason?` (${e.stop_reason})`:""}`),t}var Jo=e=>e.state==="PERMIT_STATE_HELD"||e.stop?"stop":e.state==="PERMIT_STATE_COOLING"?"idle":"run";function Ge(e){return e?e.due?`${e.name}@${e.due.replace(/\.000Z$/,"Z")}`:e.name:""}var ve=[{name:"description",kind:"text",label:"Description",help:"Free text for people."},{name:"labels",kind:"labels",label:"Labels",help:"One key=value per line. Commands and filters select by them."},{name:"group_pattern",kind:"pattern",label:"Group pattern",help:"A regular expression (RE2) that the whole group must match."},{name:"acquirer_pattern",kind:"pattern",label:"Acquirer pattern",help:"The same for the acquirer, normally a host."},{name:"permits",kind:"number",label:"Permits",help:"How much weight may be held at once. 0 lets nobody in."},{name:"duration",kind:"duration",label:"Duration",help:"How long a permit lives without a refresh. It bounds how long a dead holder keeps its slot."},{name:"max_hold",kind:"duration",label:"Max hold",help:"A job that holds longer must stop. Empty: no limit."},{name:"min_hold",kind:"duration",label:"Min hold",help:"The slot stays taken at least this long after a grant."},{name:"loss_delay",kind:"duration",label:"Loss delay",help:"After a lost holder the slot stays taken this much longer."},{name:"on_expiry",kind:"choice",prefix:"ON_EXPIRY_",values:["FREE","HOLD"],label:"On expiry",help:"What becomes of the slot of a permit that expired. hold: until an operator clears it."},{name:"takeover",kind:"flag",label:"Takeover",help:"Callers may take over from a holder that they judge dead."},{name:"expect_every",kind:"duration",label:"Expect every",help:"How often this work is expected to ask. Empty: nothing is expected."},{name:"firing_on_loss",kind:"choice",prefix:"FIRING_ON_LOSS_",values:["SPENT","FREE"],label:"Firing on loss",help:"What becomes of a firing whose permit was lost. free: it may be claimed again."},{name:"firing_retention",kind:"duration",label:"Firing retention",help:"How long a firing is remembered after its due time."},{name:"firing_limit",kind:"number",label:"Firing limit",help:"How many firings are remembered at most."},{name:"firing_max_ahead",kind:"duration",label:"Firing max ahead",help:"How far ahead of the leader’s clock a firing may be due. 0: any."},{name:"max_attempts",kind:"number",label:"Max attempts",help:"How many holders may attempt a firing. 0: any number."},{name:"misfire",kind:"choice",prefix:"MISFIRE_",values:["SKIP","ONCE","EACH"],label:"Misfire",help:"What becomes of firings that nobody claimed when they were due."},{name:"misfire_window",kind:"duration",label:"Misfire window",help:"How long ago such a firing may have been due."}];function Je(e,t){let n=t?.[e.name];switch(e.kind){case"labels":return Object.keys(n??{}).sort().map(o=>n[o]===""?o:`${o}=${n[o]}`).join(", ");case"duration":return Fe(n);case"choice":return j(n,e.prefix)||e.values[0].toLowerCase();case"flag":return n?"yes":"no";case"number":return String(n??0)}return n??""}function kn(e,t){return ve.map(n=>({field:n,before:Je(n,e),after:Je(n,t)})).filter(n=>n.before!==n.after)}var En=(e=[],t=e.length,n=2)=>{let o=e.slice(0,n).map(r=>`${r.acquirer} in ${r.group}`),a=t-o.length;return o.join(", ")+(a>0?` and ${y(a)} more`:"")};function Go(e=[]){let t=e.flatMap(r=>r.stopped??[]);if(t.length===0)return"No holder must stop.";let n=t.filter(r=>r.drain_left).length,o=[];t.length>n&&o.push(`${C(t.length-n,"holder","holders")} must stop`),n&&o.push(`the ${n===1?"drain of 1 holder is":`drains of ${n} holders are`} cut short`);let a=`${o.join(", ")}; every slot is free within ${X(Math.max(...t.map(r=>N(r.free_within))))}.`;return a[0].toUpperCase()+a.slice(1)}function Qo(e=[],t=[]){let n=new Map;for(let o of e)for(let a of o.warnings??[])n.set(a,[...n.get(a)??[],o.semaphore]);return[...t,...[...n].map(([o,a])=>`${Ve(a)}: ${o}`)]}var Ts=e=>`${e.length===1?"change":"changes"} ${Ve(e,5)}`;function xn(e){let t=[];return e.group_pattern&&t.push(`group ${e.group_pattern}`),e.acquirer_pattern&&t.push(`acquirer ${e.acquirer_pattern}`),e.until&&t.push(`until ${M(e.until)}`),t.join(", ")}function Yo(e){let t=[],n=j(e.kind,"EVENT_KIND_");e.until&&n!=="resumed"&&t.push(`until ${M(e.until)}`);let o=e.pause;if(o&&n!=="resumed"&&((n==="created"||n==="deleted")&&t.push("while paused"),o.until&&t.push(`until ${M(o.until)}`),o.stop&&t.push(o.drain?`holders must stop within ${X(N(o.drain))}`:"holders must stop")),e.pause_before&&t.push(`instead of the pause of change ${e.pause_before.change}`),e.cordon&&t.push(`“${e.cordon.id}”, ${xn(e.cordon)}`),e.cordon_before&&t.push(`instead of that of change ${e.cordon_before.change}`),e.firings?.firings?.length){let r=e.firings.firings.map(l=>Ge(l.firing)),i=n==="firings remembered"?"remembered again":"forgotten";t.push(`${C(r.length,"firing","firings")} ${i} (${Ve(r)})`)}(e.binding_before||e.binding_after)&&t.push(`binding ${(e.binding_after??e.binding_before).name}`),e.undoes&&e.undoes!=="0"&&t.push(`undoes ${Ts([e.undoes,...e.also_undoes??[]])}`),e.permit&&t.push(`${F(e.permit.identity)}, token ${e.permit.token}`);let a=j(e.missed,"MISSED_KIND_");return a&&t.push(a),e.drain&&t.push(`drain ${X(N(e.drain))}`),[...new Set(t)].join("; ")}var Ss={created:"run",replaced:"accent",deleted:"deny",paused:"pause",resumed:"run",cordoned:"deny",uncordoned:"run",granted:"run",released:"idle",expired:"stop",held:"stop",cleared:"run",stopping:"stop",missed:"stop",heard:"run","freed unsafely":"deny"},Xo=e=>Ss[j(e,"EVENT_KIND_")]??"idle",Zo=e=>["CREATED","REPLACED","DELETED","PAUSED","RESUMED","CORDONED","UNCORDONED","FIRINGS_FORGOTTEN","FIRINGS_REMEMBERED"].includes(e.kind?.slice(11));function Et(e){let t=j(e.role,"ROLE_");return e.semaphores?.length&&(t+=` on ${e.semaphores.join(", ")}`),e.labels&&(t+=` where ${e.labels}`),e.group&&(t+=` in group ${e.group}`),e.acquirer&&(t+=` as acquirer ${e.acquirer}`),t}function K({caption:e,columns:t,rows:n,rowKey:o,empty:a,note:r}){return n?.length?s`<div class="table-wrap">
    <table>
      <caption class="sr-only">${e}</caption>
      <thead><tr>${t.map(([i,,l])=>s`<th scope="col" class=${l}>${i}</th>`)}</tr></thead>
      <tbody>
        ${n.map((i,l)=>s`<tr key=${o?o(i):l}>
          ${t.map(([u,p,c],$)=>$===0?s`<th scope="row" class=${c} data-label=${u}>${p(i)}</th>`:s`<td class=${c} data-label=${u}>${p(i)}</td>`)}
        </tr>`)}
      </tbody>
    </table>
    ${r&&s`<p class="faint">${r}</p>`}
  </div>`:a??s`<${I} title="Nothing here." />`}function Ie({of:e}){return s`<dl class="facts">
    ${e.filter(([,t])=>t!=null&&t!=="").map(([t,n])=>s`<div><dt>${t}</dt><dd>${n}</dd></div>`)}
  </dl>`}function Te({share:e,tone:t="accent",label:n}){let o=Math.max(0,Math.min(1,e||0));return s`<span class="bar tone-${t}" role="img" aria-label=${n}>
    <span class="bar-fill" style=${{transform:`scaleX(${o.toFixed(4)})`}}></span>
  </span>`}function Vt({at:e,of:t,what:n="expires unless it is refreshed"}){if(Pe(),!e)return s`<span class="faint">–</span>`;let o=Math.max(0,e-Date.now()),a=t&&o/t<.34;return s`<span class="deadline" title=${n}>
    ${t>0&&s`<${Te} share=${o/t} tone=${a?"wait":"run"} label="${at(o)} left" />`}
    <span class="num">${at(o)}</span>
  </span>`}function $e({at:e}){return Pe(),e?s`<time class="num" datetime=${e} title=${new Date(e).toLocaleString()}>${at(ze()-Date.parse(e))}</time>`:"–"}function er({parts:e,total:t,label:n}){let o=0;return s`<svg class="segments" viewBox="0 0 1000 10" preserveAspectRatio="none" role="img" aria-label=${n}>
    <rect class="track" x="0" y="0" width="1000" height="10" />
    ${e.filter(([a])=>a>0).map(([a,r])=>{let i=t?1e3*a/t:0,l=s`<rect class="fill-${r}" x=${o} y="0" width=${i} height="10" />`;return o+=i,l})}
  </svg>`}var Qe=50;function Tn({before:e,after:t}){if(!e&&!t)return null;if(!e)return s`<span>created</span>`;if(!t)return s`<span>deleted</span>`;let n=kn(e,t);return n.length===0?s`<span class="faint">–</span>`:s`<ul class="changes">
    ${n.map(o=>s`<li>
        <span class="change-name">${o.field.name}</span>
        <del>${o.before||"(none)"}</del><span class="sr-only"> becomes </span><ins>${o.after||"(none)"}</ins>
      </li>`)}
  </ul>`}function Cs({effects:e}){let t=e.flatMap(n=>n.stopped??[]);return t.length===0?null:s`<section>
    <h3>Must stop</h3>
    <${K}
      caption="Holders that must stop"
      rows=${t.slice(0,Qe)}
      rowKey=${n=>n.permit.token}
      columns=${[["Semaphore",n=>n.permit.semaphore,"name"],["Holder",n=>F(n.permit.identity),"name"],["Token",n=>n.permit.token,"num"],["Since",n=>s`<${$e} at=${n.permit.granted_at} />`,"num"],["Free within",n=>X(N(n.free_within))+(n.drain_left?` (its drain had ${X(N(n.drain_left))} left)`:""),"num"]]}
      note=${t.length>Qe&&`and ${y(t.length-Qe)} more`}
    />
  </section>`}function Sn({of:e}){let{confirm:t=[],warnings:n=[]}=e;return s`${t.length>0&&s`<ul class="confirm">${t.map(o=>s`<li>${o.text}</li>`)}</ul>`}
    ${n.length>0&&s`<ul class="warnings">${n.slice(0,20).map(o=>s`<li>${o}</li>`)}</ul>`}`}function tr({of:e}){let t=e.effects??[],n=t.filter(r=>r.total_admitted||r.total_shut_out||!r.before!=!r.after||kn(r.before,r.after).length),o=t.flatMap(r=>r.held??[]),a=t.filter(r=>Number(r.waiting_tasks));return s`<div class="effects">
    <p class="lead">${Go(t)}</p>
    <${Sn} of=${{confirm:e.confirm,warnings:Qo(t,e.warnings)}} />
    ${n.length>0&&s`<section>
      <h3>${C(n.length,"semaphore changes","semaphores change")}</h3>
      <${K}
        caption="Semaphores that change"
        rows=${n.slice(0,Qe)}
        rowKey=${r=>r.semaphore}
        columns=${[["Semaphore",r=>r.semaphore,"name"],["Changes",r=>s`<${Tn} before=${r.before} after=${r.after} />`],["Lets in",r=>En(r.admitted,r.total_admitted??0)||"–"],["Shuts out",r=>En(r.shut_out,r.total_shut_out??0)||"–"],["Stops",r=>y(r.stopped?.length),"num"],["Continue",r=>y(r.unaffected),"num"]]}
        note=${n.length>Qe&&`and ${y(n.length-Qe)} more`}
      />
    </section>`}
    <${Cs} effects=${t} />
    ${o.length>0&&s`<section><h3>Held for an operator</h3>
      <ul>${o.slice(0,Qe).map(r=>s`<li>${r.semaphore}: the permit of ${F(r.identity)} (token ${r.token}) expired. Its slot stays taken until it is cleared.</li>`)}</ul>
    </section>`}
    ${a.length>0&&s`<ul>${a.slice(0,Qe).map(r=>s`<li>${r.semaphore}: ${C(r.waiting_tasks,"task waits","tasks wait")} for a worker${r.tasks_run?`; after this change, ${r.tasks_run}`:""}.</li>`)}</ul>`}
  </div>`}function Q(e){let{title:t,verb:n,kind:o,preview:a,run:r,done:i,onClose:l,onDone:u,onError:p,role:c,semaphore:$,nothing:f,deps:d,extra:m,children:_}=e,{show:g=P=>s`<${tr} of=${P} />`,undoable:v=!0,journal:w=!0}=e,[D,A]=h(0),k=S(a,[t,D,d],{keep:!0}),Y=k.loading||k.error,[ie,le]=h(""),[he,re]=h(!1),[J,ee]=h(null),b=V(null),ue=k.data&&f?.(k.data);x(()=>{k.error&&p?.(k.error)===!0&&l()},[k.error]),x(()=>{b.current=null},[JSON.stringify(d)]);let te=()=>{b.current=null,ee(null),A(D+1)};async function R(P){if(P.preventDefault(),!(he||Y||ue)){re(!0),ee(null),b.current??=Pt();try{let U=await r({reason:ie,...be(),...b.current},k.data),ae=U.revision??U.change,ge=v&&ae&&ae!=="0"?{text:"Undo",run:()=>rt(ae)}:void 0;Ee(i(U),{action:ge}),u?.(U,k.data),l()}catch(U){U.code!=="UNAVAILABLE"&&(b.current=null),re(!1);let ae=p?.(U);ae===!0?l():ae!=="shown"&&ee(U)}}}return s`<${ce} title=${t} onClose=${l} wide firm=${!!_}>
    <form onSubmit=${R}>
      ${_}
      <${W} of=${k} what="Asking what this would do">
        ${P=>s`${m?.(P)}${g(P)}${P.notes?.length>0&&s`<ul>${P.notes.map(U=>s`<li>${U}</li>`)}</ul>`}
        ${ue&&s`<p class="lead">${ue}</p>`}`}
      <//>
      ${w&&s`<${O} label="Reason" help="For the journal: why you do this." value=${ie} onInput=${le} maxlength="1024" />`}
      ${J&&s`<${H} error=${J} retry=${/CHANGED_SINCE|STALE|CONFLICT/.test(J.reason)?te:void 0} />`}
      <p class="row end">
        <button type="button" onClick=${l}>Cancel</button>
        <${L} role=${c} semaphore=${$} type="submit" kind=${o??"primary"} why=${Y?"There is no preview yet.":ue}>
          ${he?"Working …":typeof n=="function"?n(k.data??{}):n}
        <//>
      </p>
    </form>
  <//>`}var Cn=me(null);function rt(e,t){Cn.set({change:String(e),onDone:t})}function nr(){let e=B(Cn);return e?s`<${Q}
    key=${e.change}
    title=${`Undo change ${e.change}`}
    verb="Undo it"
    preview=${()=>T("/v1/undo",{change:e.change,dry_run:!0,...be()})}
    nothing=${t=>t.undone_by&&t.undone_by!=="0"?`It was undone already, by change ${t.undone_by}.`:t.nothing?"Nothing is left to undo.":""}
    run=${(t,n)=>T("/v1/undo",{change:e.change,plan:n.plan,...t})}
    done=${()=>`Change ${e.change} is undone.`}
    onDone=${e.onDone}
    onClose=${()=>Cn.set(null)}
  />`:null}var Ds=[["/","Overview"],["/move","Move and pause"],["/activity","Activity"],["/jobs","Jobs"],["/cluster","Cluster"],["/access","Access"]],Dn=Mt("theme","auto");Dn.subscribe(e=>{e==="auto"?delete document.documentElement.dataset.theme:document.documentElement.dataset.theme=e});function Rs(){let e=B(Dn),t={auto:"light",light:"dark",dark:"auto"}[e];return s`<button type="button" class="plain" onClick=${()=>Dn.set(t)} title="Theme: ${e}. Click for ${t}.">
    <svg class="glyph" viewBox="0 0 16 16" aria-hidden="true">
      <circle cx="8" cy="8" r="6" /><path class="solid" d=${e==="auto"?"M8 2a6 6 0 0 1 0 12z":e==="dark"?"M8 2a6 6 0 0 1 0 12 6 6 0 0 1 0-12z":"M8 8z"} />
    </svg>
    <span class="sr-only">Theme: ${e}. Change to ${t}</span>
  </button>`}var Os=[["/","Search"],["↑ ↓","Move in a list; Home, End, Page Up and Page Down too"],["Enter","Open"],["Esc","Leave a field, close a dialog, or go back"],["g then o, m, a, j, c","Overview, Move and pause, Activity, Jobs, Cluster"],["?","These keys"]];function Is({onClose:e}){return s`<${ce} title="Keys" onClose=${e}>
    <dl class="keys">${Os.map(([t,n])=>s`<div><dt><kbd>${t}</kbd></dt><dd>${n}</dd></div>`)}</dl>
  <//>`}function As(){let e=B(Oe),t=B(Ht),[n,o]=h(!1);if(!e)return null;let a=e.authenticated?e.principal||e.credential:t||"dashboard";return s`<button type="button" class="plain who" onClick=${()=>o(!0)}><span class="sr-only">You are </span>${a}</button>
    ${n&&s`<${ce} title="You" onClose=${()=>o(!1)}>
      ${e.authenticated?s`<p>The servers see you as <strong>${e.principal}</strong>, by ${e.credential}. <a href="/access">What you may do</a></p>
            <p class="row end"><button type="button" onClick=${()=>Mo().catch(()=>{}).then(()=>_e("/login"))}>Log out</button></p>`:s`<p>These servers do not authenticate callers: everybody may do everything.</p>
            <${O} label="Your name" help="The journal shows it as the author of your changes. Nobody checks it." value=${t} onInput=${r=>Ht.set(r)} maxlength="256" />
            <p class="row end"><button type="button" class="primary" onClick=${()=>o(!1)}>Done</button></p>`}
    <//>`}`}function Ns(){let e=S(o=>E("/v1/status",{},o),["status"],{every:1e4,keep:!0}),t=B(Re).online,n=e.data;return t?n?s`<a class="leader" href="/cluster">
    ${n.leader_id?s`<span class="lamp tone-run" aria-hidden="true"></span><span>${n.leader_id}<span class="long"> leads</span></span>`:s`<span class="lamp tone-deny" aria-hidden="true"></span>no leader`}
  </a>`:s`<a class="leader" href="/cluster"><span class="sr-only">Cluster: </span>…</a>`:s`<a class="leader" href="/cluster"><span class="lamp tone-deny" aria-hidden="true"></span>no answer</a>`}var Ms={o:"/",m:"/move",a:"/activity",j:"/jobs",c:"/cluster"};function Jt({children:e,bare:t}){let n=B(ot).split("?")[0],[o,a]=h(!1),r=V(null),i=V(!0),l=V(0);return x(()=>{if(i.current){i.current=!1;return}scrollTo(0,0),r.current?.querySelector("h1")?.focus()},[n]),Bo({"?":()=>a(!0),"/":u=>{let p=document.querySelector("[data-search]");p&&(u.preventDefault(),p.focus(),p.select())},Escape:(u,p)=>{p?u.target.blur():n!=="/"&&Do()},g:()=>l.current=Date.now(),...Object.fromEntries(Object.entries(Ms).map(([u,p])=>[u,()=>Date.now()-l.current<1500&&document.querySelector(`.nav a[href="${p}"]`)?.click()]))}),s`<a class="skip" href="#main">Skip to the content</a>
    ${!t&&s`<header class="top">
      <a class="brand" href="/"><img src="/assets/icon.svg" alt="" width="24" height="24" /><span>Gatekeeper</span></a>
      <nav class="nav" aria-label="Views">
        ${Ds.map(([u,p])=>{let c=u==="/"?n==="/"||n.startsWith("/s/"):n===u||n.startsWith(`${u}/`);return s`<a href=${u} aria-current=${c?"page":void 0}>${p}</a>`})}
      </nav>
      <div class="tools">
        <${Ns} />
        <${As} />
        <${Rs} />
        <button type="button" class="plain" onClick=${()=>a(!0)} title="Keys"><span aria-hidden="true">?</span><span class="sr-only">Keys</span></button>
      </div>
    </header>`}
    <${Uo} />
    <main id="main" tabindex="-1" ref=${r}>${e}</main>
    <${Wo} />
    <${nr} />
    ${o&&s`<${Is} onClose=${()=>a(!1)} />`}`}function Z({children:e,aside:t}){return s`<div class="title"><h1 tabindex="-1">${e}</h1>${t&&s`<div class="row">${t}</div>`}</div>`}var Rn=[["viewer","–","see definitions, permits, queues, history, jobs and status"],["acquirer","viewer","acquire, keep and release permits, take over, verify, submit jobs and work on them"],["verifier","–","verify permits, for a guarded resource"],["operator","viewer","pause, move, cordon, revoke and clear; cancel, retry and delete jobs; undo these"],["editor","viewer","create, replace and delete definitions; undo that"],["admin","all","everything, also change members, settings, bindings and tokens; it has no scope"]],Gt=Rn.map(([e])=>[`ROLE_${e.toUpperCase()}`,e]);var or=e=>e.split(`
`).map(t=>t.trim()).filter(Boolean),sr=e=>({role:e.role,semaphores:(e.semaphores??[]).join(`
`),labels:e.labels??"",group:e.group??"",acquirer:e.acquirer??""}),On=e=>({name:e?.name??"",subjects:(e?.subjects??[]).join(`
`),grants:(e?.grants??[{role:"ROLE_VIEWER"}]).map(sr)}),rr=e=>({name:e.name.trim(),subjects:or(e.subjects),grants:e.grants.map(t=>({role:t.role,semaphores:or(t.semaphores),labels:t.labels.trim(),group:t.group,acquirer:t.acquirer}))}),In=e=>[...(e?.subjects??[]).map(t=>`subject ${t}`),...(e?.grants??[]).map(t=>`grant ${Et(t)}`)];function Ls({was:e,is:t}){let[n,o]=[In(e),In(t)],a=o.filter(i=>!n.includes(i)),r=n.filter(i=>!o.includes(i));return a.length+r.length===0?null:s`<ul class="changes">
    ${a.map(i=>s`<li><span class="sr-only">adds </span><ins>${i}</ins></li>`)}
    ${r.map(i=>s`<li><span class="sr-only">removes </span><del>${i}</del></li>`)}
  </ul>
  ${r.length>0&&s`<p>Callers lose what is removed at once.</p>`}`}function js({number:e,value:t,set:n,remove:o,error:a}){let r=i=>l=>n({...t,[i]:l});return s`<fieldset class="grant">
    <legend>Grant ${e}</legend>
    <div class="form">
      <${xe} label="Role" value=${t.role} options=${Gt} onChange=${r("role")}
        error=${a("role")} />
      <${O} label="Semaphores" area=${2} value=${t.semaphores} onInput=${r("semaphores")}
        error=${a("semaphores")} help="Names or globs, one on each line. Empty: all." />
      <${O} label="Labels" value=${t.labels} onInput=${r("labels")} error=${a("labels")}
        help="A selector, as team=data. Empty: any." />
      <${O} label="Group" value=${t.group} onInput=${r("group")} error=${a("group")}
        help="A pattern of the groups as which callers may act. Empty: any." />
      <${O} label="Acquirer" value=${t.acquirer} onInput=${r("acquirer")} error=${a("acquirer")}
        help="The same for acquirers." />
    </div>
    <p class="row end"><button type="button" onClick=${o}>Remove grant ${e}</button></p>
  </fieldset>`}function Fs(){let[e,t]=h([]),n=o=>a=>a.field===o||a.field.startsWith(`${o}[`);return{error:o=>e.find(n(o))?.rule,clear:()=>t([]),take(o,a){return t(o.fields),o.fields.length>0&&o.fields.every(r=>a.some(i=>n(i)(r)))}}}function ar({binding:e,onClose:t,onDone:n}){let[o,a]=h(e),[r,i]=h(()=>On(e)),[l,u]=h(null),p=Fs(),c=rr(r),$=de(()=>JSON.stringify(rr(On(o))),[o]),f=v=>{p.clear(),i({...r,...v})},d=v=>w=>f({grants:r.grants.map((D,A)=>A===v?w:D)}),m=["binding.name","binding.subjects"];r.grants.forEach((v,w)=>m.push(...Object.keys(v).map(D=>`binding.grants[${w}].${D}`)));let _=v=>{if(v.reason!=="STALE_VERSION")return p.take(v,m)&&"shown";E("/v1/bindings").then(w=>u(w.bindings.find(D=>D.name===c.name)),()=>{})},g=v=>{a(l),v||i(On(l)),u(null)};return s`<${Q}
    title=${e?`Edit binding ${e.name}`:"Create a binding"}
    verb=${o?"Save":"Create"}
    role="ROLE_ADMIN"
    deps=${[c,o?.revision]}
    preview=${async()=>({})}
    show=${()=>s`<${Ls} was=${o} is=${c} />`}
    nothing=${()=>l?"Choose what becomes of the change of somebody else.":c.name?o&&$===JSON.stringify(c)?"Nothing was changed.":"":"It needs a name."}
    run=${({reason:v})=>bt(G`/v1/bindings/${c.name}`,{binding:c,expected_revision:o?.revision,reason:v})}
    done=${()=>`Binding ${c.name} is ${o?"saved":"created"}.`}
    onError=${_}
    onClose=${t}
    onDone=${n}
  >
    ${l&&s`<div class="note" role="alert">
      <p>${l.updated_by||"Somebody"} saved this binding at ${M(l.updated_at)}, while you edited it. It is now:</p>
      <ul>${In(l).map(v=>s`<li>${v}</li>`)}</ul>
      <p class="row">
        <button type="button" onClick=${()=>g(!0)}>Keep my values</button>
        <button type="button" onClick=${()=>g(!1)}>Take these values</button>
      </p>
    </div>`}
    <div class="form">
      ${!e&&s`<${O} label="Name" value=${r.name} onInput=${v=>f({name:v})} error=${p.error("binding.name")}
        help="The principal: the author of changes, and the owner of permits." autofocus />`}
      <${O} label="Subjects" area=${3} value=${r.subjects} onInput=${v=>f({subjects:v})}
        error=${p.error("binding.subjects")}
        help="One on each line: cert:NAME, spiffe://DOMAIN/PATH or oidc:CLAIM=VALUE. None: only bearer tokens." />
    </div>
    ${r.grants.map((v,w)=>s`<${js} key=${w} number=${w+1} value=${v} set=${d(w)}
        remove=${()=>f({grants:r.grants.filter((D,A)=>A!==w)})}
        error=${D=>p.error(`binding.grants[${w}].${D}`)} />`)}
    <p><button type="button" onClick=${()=>f({grants:[...r.grants,sr({role:"ROLE_VIEWER"})]})}>Add a grant</button></p>
  <//>`}function ir({binding:e,onClose:t,onDone:n}){let o=e.subjects??[],a=e.tokens??[];return s`<${Q}
    title=${`Remove binding ${e.name}`}
    verb="Remove it"
    kind="danger"
    role="ROLE_ADMIN"
    undoable=${!1}
    preview=${async()=>({})}
    show=${()=>s`
      ${o.length+a.length===0&&s`<p>The binding has no subject and no token, so nobody loses access.</p>`}
      ${o.length>0&&s`<p>These subjects may do nothing any more:</p><ul>${o.map(r=>s`<li><code>${r}</code></li>`)}</ul>`}
      ${a.length>0&&s`<p>These tokens end:</p>
        <ul>${a.map(r=>s`<li><code>${r.id}</code>${r.created_by&&`, created by ${r.created_by}`}</li>`)}</ul>`}
      <p>Streams of ${e.name} end within a second. Its permits live until they expire.</p>`}
    run=${({reason:r})=>Ao(G`/v1/bindings/${e.name}`,{expected_revision:e.revision,reason:r})}
    done=${()=>`Binding ${e.name} is removed.`}
    onError=${r=>{r.reason==="STALE_VERSION"&&n()}}
    onClose=${t}
    onDone=${n}
  />`}function Ne({lasts:e,until:t}){return e?.trim()?{lasts:Ce(e)}:t?{until:new Date(t).toISOString()}:{}}var Me=e=>e?.trim()?{drain:Ce(e)}:{};function Le(e){try{return e(),""}catch(t){return t.message}}function Ue({value:e,set:t,without:n="It stays until somebody ends it.",error:o}){return s`<${O}
      label="For"
      placeholder="2h"
      value=${e.lasts??""}
      onInput=${a=>t({...e,lasts:a,until:""})}
      error=${Le(()=>Ce(e.lasts??""))||o}
      help=${`As 30m or 2h. ${n}`}
    />
    <${O} label="Or until" type="datetime-local" value=${e.until??""} onInput=${a=>t({...e,until:a,lasts:""})} />`}function Ye({value:e,set:t}){return s`<${O}
    label="Drain"
    placeholder="2m"
    value=${e.drain??""}
    onInput=${n=>t({...e,drain:n})}
    error=${Le(()=>Ce(e.drain??""))}
    help="How long holders that must stop may continue. Empty: their next refresh is refused."
  />`}function lr(e){let{lasts:t,until:n}=Ne(e);return t?{expires_at:new Date(ze()+N(t)).toISOString()}:n?{expires_at:n}:{}}function Ps({of:e,binding:t,onClose:n}){let o=V(null),[a,r]=h("");x(()=>o.current.querySelector("input").select(),[]);let i=async()=>{o.current.querySelector("input").select();try{await navigator.clipboard.writeText(e.secret),r("Copied.")}catch{r("The browser does not allow it: copy the selected text with Ctrl-C.")}},l=e.token.expires_at?`until ${M(e.token.expires_at)}`:"until it is revoked";return s`<div class="stack" ref=${o}>
    <p class="note" role="alert">Copy the token now. It is shown only this once: the servers keep a hash of it.</p>
    <${O} label="Token" value=${e.secret} onInput=${()=>{}} readonly />
    <p>A caller that shows it acts as ${t}, ${l}. Its id is <code>${e.token.id}</code>.</p>
    <p class="row end">
      <span class="grow" role="status">${a}</span>
      <button type="button" onClick=${i}>Copy</button>
      <button type="button" class="primary" onClick=${n}>Done</button>
    </p>
  </div>`}function cr({binding:e,onClose:t,onDone:n}){let[o,a]=h({lasts:"30d",until:""}),[r,i]=h(""),[l,u]=h(null),[p,c]=h(null),[$,f]=h(!1),d=Le(()=>lr(o)),m=async g=>{if(g.preventDefault(),!($||d)){f(!0),c(null);try{u(await T("/v1/tokens",{binding:e,reason:r,...lr(o)})),n()}catch(v){c(v.offline?{message:"It is not known whether the token was created. If the list has a new one, revoke it."}:v),v.offline&&n()}f(!1)}},_=p?.fields?.find(g=>g.field==="expires_at")?.rule;return s`<${ce} title=${`${l?"Token":"Create a token"} of ${e}`} onClose=${t} firm>
    ${l?s`<${Ps} of=${l} binding=${e} onClose=${t} />`:s`<form onSubmit=${m}>
          <p>A caller that shows the token may do all that the binding grants.</p>
          <div class="form">
            <${Ue} value=${o} set=${g=>(a(g),c(null))} without="Empty: until it is revoked." error=${_} />
          </div>
          <${O} label="Reason" help="For the journal: why you do this." value=${r} onInput=${i} maxlength="1024" />
          ${p&&!_&&s`<${H} error=${p} />`}
          <p class="row end">
            <button type="button" onClick=${t}>Cancel</button>
            <${L} role="ROLE_ADMIN" type="submit" kind="primary" why=${d}>${$?"Working …":"Create it"}<//>
          </p>
        </form>`}
  <//>`}function ur({binding:e,token:t,onClose:n,onDone:o}){return s`<${Q}
    title=${`Revoke token ${t.id}`}
    verb="Revoke it"
    kind="danger"
    role="ROLE_ADMIN"
    undoable=${!1}
    preview=${async()=>({})}
    show=${()=>s`<p>Callers with this token of ${e} are refused at once, and its streams end within a second. Permits live
      until they expire.</p>`}
    run=${({reason:a})=>T(G`/v1/tokens/${t.id}:revoke`,{reason:a})}
    done=${()=>`Token ${t.id} is revoked.`}
    onClose=${n}
    onDone=${o}
  />`}function qs(){let[e,t]=h({role:"ROLE_OPERATOR",semaphore:""}),[n,o]=h(null),[a,r]=h(null);return s`<section class="panel stack">
    <h2>May I?</h2>
    <form class="form" onSubmit=${l=>{l.preventDefault(),T("/v1/can-i",{role:e.role,semaphore:e.semaphore.trim()}).then(u=>(o(u),r(null)),r)}}>
      <${xe} label="Role" value=${e.role} onChange=${l=>t({...e,role:l})} options=${Gt} />
      <${O} label="On semaphore" value=${e.semaphore} onInput=${l=>t({...e,semaphore:l})} help="Empty: anywhere." />
      <p class="row full"><button class="primary">Ask</button></p>
    </form>
    <div role="status">
      ${n&&(n.allowed?s`<p class="lead tone-run">Yes.</p>`:s`<p class="lead"><strong class="tone-deny">No.</strong> ${n.reason}</p>`)}
    </div>
    ${a&&s`<${H} error=${a} />`}
  </section>`}var An=200;function Us({session:e}){let t=S(f=>E("/v1/bindings",{},f),["bindings"],{keep:!0}),[n,o]=h(null),[a,r]=h("");if(t.error?.code==="PERMISSION_DENIED")return s`<${I} title="Only administrators see who may do what." />`;let i=e?.authenticates===!1?"These servers do not authenticate callers, so bindings would mean nothing.":"",l=(f,d,...m)=>s`<${L} role="ROLE_ADMIN" why=${i} kind=${d} onClick=${()=>o(m)}>${f}<//>`,u={onClose:()=>o(null),onDone:t.refresh},[p,c,$]=n??[];return s`<div class="title"><h2>Who may do what</h2>${l("Create a binding …","primary","edit")}</div>
    <${W} of=${t} what="Reading the bindings">
      ${({bindings:f=[]})=>{let d=f.filter(m=>a.toLowerCase().split(/\s+/).every(_=>JSON.stringify(m).toLowerCase().includes(_)));return s`${(f.length>10||a)&&s`<${O} label="Find" value=${a} onInput=${r} help="Words of names, subjects, grants and tokens." />`}
        <${K}
          caption="Bindings"
          rows=${d.slice(0,An)}
          rowKey=${m=>m.name}
          empty=${s`<${I} title=${a?"No binding has these words.":"There are no bindings."} />`}
          note=${d.length>An&&`and ${y(d.length-An)} more: find them by words`}
          columns=${[["Name",m=>m.name,"name"],["Subjects",m=>s`<ul class="changes">${(m.subjects??[]).map(_=>s`<li>${_}</li>`)}</ul>`,"name"],["May",m=>s`<ul class="changes">${(m.grants??[]).map(_=>s`<li>${Et(_)}</li>`)}</ul>`],["Tokens",m=>s`<ul class="changes">
              ${(m.tokens??[]).map(_=>s`<li class="row">
                <span><code>${_.id}</code>${_.expires_at&&` until ${M(_.expires_at)}`}</span>${l("Revoke …","","revoke",m,_)}
              </li>`)}
            </ul>`],["Changed",m=>`${M(m.updated_at)}${m.updated_by?` by ${m.updated_by}`:""}`],["",m=>s`<span class="row end">
              ${l("Edit …","","edit",m)}${l("Create a token …","","token",m)}${l("Remove …","danger","remove",m)}
            </span>`,"end"]]}
        />`}}
    <//>
    ${p==="edit"&&s`<${ar} binding=${c} ...${u} />`}
    ${p==="remove"&&s`<${ir} binding=${c} ...${u} />`}
    ${p==="token"&&s`<${cr} binding=${c.name} ...${u} />`}
    ${p==="revoke"&&s`<${ur} binding=${c.name} token=${$} ...${u} />`}`}function pr(){se("Access");let e=B(Oe);return s`<${Z}>Access<//>
    <div class="stack">
      <section class="panel">
        <h2>You</h2>
        ${e?e.authenticated?s`<${Ie} of=${[["Principal",e.principal],["Credential",e.credential],["You may",(e.grants??[]).map(Et).join("; ")||"nothing"],["Acquirers",(e.acquirers??[]).join(", ")]]} />`:s`<p>These servers do not authenticate callers: everybody may do everything.</p>`:s`<${ke} what="Asking who you are" />`}
      </section>
      <div class="panels">
        <${qs} />
        <section class="panel"><h2>Roles</h2>
          <${K} caption="Roles" rows=${Rn} columns=${[["Role",t=>t[0]],["Includes",t=>t[1]],["May",t=>t[2]]]} />
        </section>
      </div>
      <section class="panel"><${Us} session=${e} /></section>
    </div>`}var Ws=["EVENT_KIND_CREATED","EVENT_KIND_REPLACED","EVENT_KIND_DELETED"],Hs=e=>Ws.includes(e)?"ROLE_EDITOR":"ROLE_OPERATOR";function xt({entries:e,semaphore:t,onChange:n}){let o="";return s`<ol class="entries">
    ${e.map(a=>{let r=a.revision!==o;return o=a.revision,s`<li key=${`${a.revision}.${a.ordinal??0}`} class=${r?"":"same"}>
        <div class="entry-head">
          <time class="num" datetime=${a.at} title=${M(a.at)}>${it(a.at)}</time>
          <span class="tag tone-${Xo(a.kind)}">${j(a.kind,"EVENT_KIND_")}</span>
          ${!t&&a.semaphore&&s`<a class="mono" href=${`/s/${encodeURIComponent(a.semaphore)}`}>${a.semaphore}</a>`}
          <span class="grow">${Yo(a)}</span>
          <span class="faint"><a href=${`/activity?change=${a.revision}`}>change ${a.revision}</a>${a.author&&` by ${a.author}`}</span>
          ${r&&Zo(a)&&s`<${L} role=${Hs(a.kind)} semaphore=${a.semaphore??""} onClick=${()=>rt(a.revision,n)}>Undo …<//>`}
        </div>
        ${a.reason&&s`<p class="entry-reason">${a.reason}</p>`}
        ${a.before&&a.after&&s`<${Tn} before=${a.before} after=${a.after} />`}
      </li>`})}
  </ol>`}function dr(){se("Activity");let[e,t]=q(),n=e.get("change")??"";return s`<${Z} aside=${n&&s`<a class="button" href="/activity">All activity</a>`}>${n?`Change ${n}`:"Activity"}<//>
    ${n?s`<${zs} change=${n} />`:s`<${Ks} params=${e} change=${t} />`}`}var Bs=e=>e.split(/[\s,]+/).filter(Boolean).map(t=>/[*?[]/.test(t)?t:`*${t}*`);function Ks({params:e,change:t}){let[n,o]=De(e.get("q")??"",g=>t({q:g}),300),[a,r]=De(e.get("labels")??"",g=>t({labels:g}),400),i=e.get("permits")==="1",l=e.get("by")??"",[u,p]=De(l,g=>t({by:g}),300),[c,$]=h(50),f={names:Bs(e.get("q")??""),labels:e.get("labels")??"",permits:i},d=S(g=>E("/v1/history",{...f,page_size:c},g),["journal",f,c],{every:15e3,keep:!0}),m=qe(d.refresh,i?500:60);Ae("/v1/watch",f,{message:({events:g=[]})=>g.length&&m(),missed:m,open:g=>g&&m()});let _=(d.data?.entries??[]).filter(g=>!l||(g.author??"").toLowerCase().includes(l.toLowerCase()));return s`<form class="filters" role="search" onSubmit=${g=>g.preventDefault()}>
      <div class="field grow"><label for="activity-q">Semaphores <kbd aria-hidden="true">/</kbd></label><input id="activity-q" data-search value=${n} onInput=${g=>o(g.target.value)} placeholder="part of a name, or a glob" spellcheck=${!1} autocomplete="off" /></div>
      <div class="field"><label for="activity-by">By</label><input id="activity-by" value=${u} onInput=${g=>p(g.target.value)} spellcheck=${!1} autocomplete="off" /></div>
      <div class="field"><label for="activity-labels">Labels</label><input id="activity-labels" value=${a} onInput=${g=>r(g.target.value)} spellcheck=${!1} autocomplete="off" /></div>
      <${fe} label="Also how permits ended" checked=${i} onChange=${g=>t({permits:g?"1":""})} />
    </form>
    <section class="panel">
      <${W} of=${d} what="Reading the journal">
        ${g=>s`
          ${_.length?s`<${xt} entries=${_} onChange=${d.refresh} />`:s`<${I} title="The journal has nothing of that.">Edits, pauses, cordons and undos appear here as they happen.<//>`}
          ${g.next_page_token&&c<1e3&&s`<p class="row"><button type="button" onClick=${()=>$(Math.min(1e3,c*4))}>Show more</button></p>`}`}
      <//>
    </section>`}function zs({change:e}){let t=S(n=>E("/v1/history",{change:e,page_size:1e3},n),["change",e]);return s`<section class="panel">
    <${W} of=${t} what="Reading the journal">
      ${({entries:n=[],missing:o,next_page_token:a})=>s`
        ${o&&s`<p class="note">The journal has forgotten a part of this change${o.semaphores?.length?`: ${o.semaphores.join(", ")}`:""}.</p>`}
        ${n.length?s`<${xt} entries=${n} onChange=${t.refresh} />`:s`<${I} title=${`The journal has no change ${e}.`} />`}
        ${a&&s`<p class="faint">Only its first 1,000 entries are shown.</p>`}
        ${n.length>0&&n[0].undoes&&s`<p><a href=${`/activity?change=${n[0].undoes}`}>The change that it undoes</a></p>`}`}
    <//>
  </section>`}var Nn=me(null),mr=(e,t)=>Nn.set({member:e,onDone:t});function Vs({of:e}){let t=(e.members??[]).filter(r=>r.voter).map(r=>r.id),n=Math.floor(t.length/2)+1,o=t.length-n,a=e.silent??[];return s`
    <p class="lead">${C(t.length,"voter is","voters are")} left: ${t.join(", ")}.</p>
    <p>The cluster needs ${n} of ${t.length===1?"it":"them"}:
      ${o?` it works on while ${C(o,"voter is","voters are")} away.`:" it stops when a voter is away."}</p>
    ${a.length>0&&s`<p class="note">${a.join(", ")} ${a.length===1?"does":"do"} not answer now.</p>`}`}function fr(){let e=B(Nn);if(!e)return null;let t=e.member.id;return s`<${Q}
    key=${t}
    title=${`Remove ${t}`}
    verb=${`Remove ${t}`}
    kind="danger"
    role="ROLE_ADMIN"
    journal=${!1}
    preview=${n=>T("/v1/members:remove",{id:t,dry_run:!0},n)}
    show=${n=>s`<p>${t} leaves for good: it stops, and its id can never be used again. A new server needs a new id and an empty
      data folder.${e.member.leader&&" It leads now, so another server takes over."}</p><${Vs} of=${n} />`}
    nothing=${n=>n.already_removed?`${t} was removed before.`:n.refusal??""}
    run=${()=>T("/v1/members:remove",{id:t})}
    done=${n=>`${t} is removed. ${C(n.members?.length??0,"member is","members are")} left.`}
    onDone=${e.onDone}
    onClose=${()=>Nn.set(null)}
  />`}var Js={max_duration:"The longest duration of a definition. Raising it lengthens, for good, how long a recovered cluster grants nothing.",journal_per_semaphore:"Edits that the journal keeps of each semaphore, and as many ends of permits.",journal_total:"The same of all semaphores together.",journal_lifetime:"How long the journal keeps an entry.",remembered_deletions:"Deleted definitions whose version is remembered.",request_lifetime:"How long a request is remembered at least, while there is room.",requests_kept:"Requests of each semaphore that are remembered for longer.",request_bytes:"The most bytes for requests.",edit_bytes:"The most bytes for requests that edit.",max_task_bytes:"The most bytes of the payload of a task, and of its result.",max_job_bytes:"The most bytes of the payloads of a job.",max_semaphore_work_bytes:"The most bytes that the jobs of a semaphore store and reserve.",max_work_bytes:"The same of all semaphores together."},Yt=e=>typeof e=="string"&&e.endsWith("s"),Qt=(e,t)=>Yt(t)?ye(N(t)):e.includes("bytes")?we(t):y(t),$r=e=>Yt(e)?Fe(e):String(e);function Gs(e,t){if(e.trim()==="")throw new Error("It needs a value.");if(Yt(t))return Ce(e);if(!/^\d+$/.test(e.trim()))throw new Error(`“${e}” is not a whole number.`);return e.trim()}function Qs(e,t){let n={},o={};for(let[a,r]of Object.entries(t))if(e[a]!==$r(r))try{n[a]=Gs(e[a],r)}catch(i){o[a]=i.message}return{changed:n,errors:o}}var Mn=({before:e={},after:t={}})=>Object.keys(t).filter(n=>e[n]!==t[n]);function Ys({settings:e,onClose:t,onDone:n}){let[o,a]=h(()=>Object.fromEntries(Object.entries(e).map(([m,_])=>[m,$r(_)]))),[r,i]=h({}),[l,u]=h(!1),{changed:p,errors:c}=Qs(o,e),$=Object.keys(c).length?"A field has a mistake.":Object.keys(p).length?"":"Nothing was changed.",f=m=>_=>{a({...o,[m]:_}),i({...r,[m]:void 0})},d=m=>{let _=m.fields.filter(g=>g.field.startsWith("settings.")).map(g=>[g.field.slice(9),g.rule]);return i(Object.fromEntries(_)),_.length>0};return s`<form onSubmit=${m=>(m.preventDefault(),$||u(!0))}>
      <div class="form">
        ${Object.entries(e).map(([m,_])=>s`<${O} key=${m} label=${m} value=${o[m]} onInput=${f(m)}
            class=${m in p||c[m]?"changed":""} inputmode=${Yt(_)?void 0:"numeric"}
            help=${`${Js[m]??""} Now ${Qt(m,_)}.`} error=${c[m]??r[m]} />`)}
      </div>
      <p class="row end sticky-end">
        <button type="button" onClick=${t}>${$==="Nothing was changed."?"Back":"Discard"}</button>
        <${L} role="ROLE_ADMIN" type="submit" kind="primary" why=${$}>Review and save …<//>
      </p>
    </form>
    ${l&&s`<${Q}
      title="Change the settings"
      verb="Save"
      role="ROLE_ADMIN"
      undoable=${!1}
      preview=${m=>bt("/v1/settings",{settings:p,dry_run:!0},m)}
      show=${m=>s`<${K}
          caption="Settings that change"
          rows=${Mn(m)}
          columns=${[["Setting",_=>_,"name"],["Now",_=>s`<del>${Qt(_,m.before[_])}</del>`],["Then",_=>s`<ins>${Qt(_,m.after[_])}</ins>`]]}
        />
        <${Sn} of=${m} />
        <p class="faint">Undo does not take settings back: set the earlier values again.</p>`}
      nothing=${m=>Mn(m).length?"":"The settings have these values already."}
      run=${({reason:m,author:_},g)=>bt("/v1/settings",{settings:p,expected:g.before,reason:m,author:_})}
      done=${m=>`${C(Mn(m).length,"setting is","settings are")} changed, as change ${m.revision}.`}
      onError=${d}
      onClose=${()=>u(!1)}
      onDone=${n}
    />`}`}function hr(){let[e,t]=q(),n=S(r=>E("/v1/settings",{},r),["settings"]),o=e.get("edit")==="settings",a=()=>t({edit:""});return s`<section class="panel">
    <div class="title"><h2>Settings</h2>
      ${!o&&s`<${L} role="ROLE_ADMIN" onClick=${()=>t({edit:"settings"},{replace:!1})}>Edit<//>`}
    </div>
    <${W} of=${n} what="Reading the settings">
      ${({settings:r={}})=>o?s`<${Ys} settings=${r} onClose=${a} onDone=${()=>(n.refresh(),a())} />`:s`<${Ie} of=${Object.entries(r).map(([i,l])=>[i,Qt(i,l)])} />`}
    <//>
  </section>`}var Xt="M4 14V2",gr={idle:[Xt,"M4 4l8-2"],running:[Xt,"M4 3l9 4v-3l-9-2z"],waiting:[Xt,"M4 5h9","M8 9h1M11 9h1M14 9h0"],paused:["M5.5 3v10","M10.5 3v10"],stopping:[Xt,"M4 4h9v4H4z"],"held for an operator":["M5 7V5a3 3 0 0 1 6 0v2","M4 7h8v6H4z"],missed:["M8 2a6 6 0 1 0 .1 0z","M8 5v3.5l2.5 1.5"],denied:["M8 2a6 6 0 1 0 .1 0z","M4.5 8h7"],disabled:["M3.5 3.5l9 9","M12.5 3.5l-9 9"],cordoned:["M8 2a6 6 0 1 0 .1 0z","M4 4l8 8"]};function Ln({word:e}){let t=gr[e]??gr.idle;return s`<svg class="glyph" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
    ${t.map(n=>s`<path d=${n} />`)}
  </svg>`}function Tt({value:e,text:t}){let n=Ko(e);return s`<span class="state tone-${n.tone}"><${Ln} word=${n.word} /><span>${t??n.word}</span></span>`}function _r({record:e}){let t=kt(e)[0];return s`<${Tt} value=${t?.value} text=${zo(e)} />`}function Zt({tone:e="idle",children:t}){return s`<span class="tag tone-${e}">${t}</span>`}var Xs=()=>S(e=>E("/v1/cordons",{},e),["cordons"],{every:15e3,keep:!0});function Xe(){let e=Xs(),[t,n]=h(null),o=e.data?.cordons??[];if(o.length===0)return null;let a=r=>T("/v1/uncordon",{id:r.id,...be(),...Pt()}).then(i=>{Ee(`Cordon ${r.id} is ended.`,{action:{text:"Undo",run:()=>rt(i.revision,e.refresh)}}),n(null),e.refresh()},n);return s`<section class="cordons" aria-label="Cordons in force">
    <${H} error=${t} />
    <ul>
      ${o.map(r=>s`<li key=${r.id}>
          <span class="state tone-deny"><${Ln} word="cordoned" />cordoned</span>
          <span class="grow">${xn(r)}${r.reason&&`: ${r.reason}`}${r.author&&s`<span class="faint"> by ${r.author}</span>`}</span>
          <${L} role="ROLE_OPERATOR" onClick=${()=>a(r)}>End it<//>
        </li>`)}
    </ul>
  </section>`}function Zs({member:e,onClose:t,onDone:n}){let[o,a]=h(null);return s`<${ce} title="Hand leadership over" onClose=${t}>
    <form onSubmit=${i=>{i.preventDefault(),T("/v1/leadership:transfer",{id:e.id}).then(l=>{Ee(`${l.leader_id} leads.`),n(),t()},a)}}>
      <p>${e.id} becomes the leader. Permits survive; calls wait a moment.</p>
      <${H} error=${o} />
      <p class="row end"><button type="button" onClick=${t}>Cancel</button><button class="primary">Let ${e.id} lead</button></p>
    </form>
  <//>`}function ea({status:e,onChange:t}){let[n,o]=h(null);return s`<section class="panel">
    <h2>Members</h2>
    <${K}
      caption="Members"
      rows=${e.members}
      rowKey=${a=>a.id}
      columns=${[["Server",a=>s`${a.id}${a.id===e.id&&s`<span class="faint"> (answers you)</span>`}`,"name"],["Role",a=>a.leader?s`<strong class="tone-run">leader</strong>`:a.voter?"follower":"non-voter"],["API",a=>a.api_address||"–","name"],["Peers",a=>a.peer_address||"–","name"],["",a=>a.voter&&!a.leader&&s`<${L} role="ROLE_ADMIN" onClick=${()=>o(a)}>Let it lead …<//>`,"end"],["",a=>s`<${L} role="ROLE_ADMIN" kind="danger" onClick=${()=>mr(a,t)}>Remove …<//>`,"end"]]}
    />
    ${n&&s`<${Zs} member=${n} onClose=${()=>o(null)} onDone=${t} />`}
  </section>`}function ta({of:e}){return s`<section class="panel">
    <h2>Certificates</h2>
    <${K}
      caption="Certificates of this server"
      rows=${e}
      empty=${s`<${I} title="This server uses no TLS." />`}
      columns=${[["Port",t=>j(t.port,"CERTIFICATE_PORT_")],["Subject",t=>t.subject||"–","name"],["Ends",t=>{if(t.error)return s`<span class="tone-deny">${t.error}</span>`;let n=Date.parse(t.not_after)-ze();return s`<span class=${n<7*864e5?"tone-deny":n<30*864e5?"tone-wait":""}>${M(t.not_after)}, ${n>0?`in ${X(n)}`:"it has ended"}</span>`}]]}
    />
  </section>`}var na=e=>N(e)<0?`${ye(-N(e))} behind`:`${ye(N(e))} ahead`;function oa({status:e}){let t=[...(e.member_clocks??[]).map(o=>({name:`server ${o.id}`,ahead:o.ahead})),...(e.host_clocks??[]).map(o=>({name:F(o),ahead:o.ahead,seen:o.seen}))],n=e.role==="SERVER_ROLE_LEADER";return s`<section class="panel">
    <h2>Clocks</h2>
    <${K}
      caption="Clocks that are off"
      rows=${t.slice(0,100)}
      empty=${s`<${I} title=${n?"No clock is off.":"Only the leader compares clocks."} />`}
      columns=${[["Whose",o=>o.name,"name"],["Off by",o=>s`<span class="tone-stop">${na(o.ahead)}</span>`,"num"],["Seen",o=>o.seen?s`<${$e} at=${o.seen} /> ago`:"within the last minute","num"]]}
    />
  </section>`}function ra({status:e}){let t=Number(e.work_bytes??0),n=Number(e.max_work_bytes??0);return s`<section class="panel">
    <h2>Stored for jobs</h2>
    <p class="row"><${Te} share=${n?t/n:0} label="${we(t)} of ${we(n)}" /><span class="num">${we(t)} of ${we(n)}</span></p>
    <${K}
      caption="Semaphores with jobs"
      rows=${e.work}
      empty=${s`<${I} title="There are no jobs." />`}
      columns=${[["Semaphore",o=>s`<a href=${`/s/${encodeURIComponent(o.semaphore)}?tab=tasks`}>${o.semaphore}</a>`,"name"],["Jobs",o=>y(o.jobs),"num"],["Waiting",o=>y(o.waiting),"num"],["Running",o=>y(o.held),"num"],["Stored",o=>we(o.bytes),"num"]]}
    />
  </section>`}function vr(){se("Cluster");let e=S(t=>E("/v1/status",{},t),["status"],{every:2e3,keep:!0});return s`<${Z}>Cluster<//>
    <${Xe} />
    <${W} of=${e} what="Asking this server">
      ${t=>{let n=Number(t.commit_index??0)-Number(t.applied_index??0);return s`<div class="stack">
          ${!t.leader_id&&s`<p class="failure" role="alert">There is no leader. Nothing is granted until a majority of the servers is there.</p>`}
          ${t.recovery_wait&&s`<p class="note">Nothing is granted for another ${X(N(t.recovery_wait))}: a recovery is being waited out.</p>`}
          ${t.insecure&&s`<p class="note">This server was started with --insecure: its ports may be reached without TLS and authentication.</p>`}
          ${t.denied_semaphores>0&&s`<div class="note"><p>${C(t.denied_semaphores,"semaphore is","semaphores are")} asked for in vain:</p>
            <ul>${t.denied.map(o=>s`<li key=${o.semaphore}><a href=${`/s/${encodeURIComponent(o.semaphore)}`}>${o.semaphore}</a>: ${o.text||o.message}</li>`)}</ul></div>`}
          <section class="panel">
            <h2>Server ${t.id}</h2>
            <${Ie} of=${[["Cluster",s`<code>${t.cluster_id}</code>`],["Leader",t.leader_id||"none"],["This server is",j(t.role,"SERVER_ROLE_")||"stopping"],["Term",t.term],["Revision",t.revision],["Applied",s`${t.applied_index}${n>0&&s`<span class="tone-wait"> (${y(n)} behind)</span>`}`],["Definitions",y(t.definitions)],["Permits",y(t.permits)],["Waiters",t.role==="SERVER_ROLE_LEADER"?y(t.waiters):"the leader knows"],["Log writes",t.log_writes&&s`<span>${ye(br(t.log_writes.median))} median, ${ye(br(t.log_writes.longest))} longest, of ${y(t.log_writes.count)}</span>`],["Last snapshot",t.last_snapshot?s`${t.last_snapshot.taken_at?s`<${$e} at=${t.last_snapshot.taken_at} /> ago`:`index ${t.last_snapshot.index}`}, ${we(t.last_snapshot.bytes)}`:"none yet"],["Smallest safe duration",t.smallest_duration&&ye(N(t.smallest_duration))],["Version",t.version],["Feature level",t.feature_level],["Up for",t.uptime&&X(N(t.uptime))]]} />
          </section>
          <div class="panels">
            <${ea} status=${t} onChange=${e.refresh} />
            <${ta} of=${t.certificates} />
            <${oa} status=${t} />
            <${ra} status=${t} />
          </div>
          <${hr} />
          <${fr} />
        </div>`}}
    <//>`}var br=e=>+(parseFloat(e??"0")*1e3).toFixed(2);var jn=e=>e.failed?"deny":e.over?"run":j(e.state,"JOB_STATE_")==="cancelled"?"stop":"accent",Fn=e=>{let t=j(e.state,"JOB_STATE_");return t==="cancelled"&&!e.over?"cancelled, some tasks still run":t},Pn=e=>["waiting","held","done","failed","dropped","cancelled"].filter(t=>e[t]).map(t=>`${y(e[t])} ${t}`).join(", ");function qn({job:e}){let t=e.tasks??0,n=`${y(e.done)} of ${C(t,"task","tasks")} done`;return s`<div class="job-progress">
    <${er}
      total=${t}
      label="${n}; ${Pn(e)}"
      parts=${[[e.done??0,"run"],[e.held??0,"accent"],[e.failed??0,"deny"],[e.dropped??0,"stop"],[e.cancelled??0,"idle"]]}
    />
    <span class="num">${n}</span>
  </div>`}function Un({jobs:e}){return s`<${K}
    caption="Jobs"
    rows=${e}
    rowKey=${t=>t.submitted_revision}
    columns=${[["Job",t=>s`<a href=${`/jobs/${encodeURIComponent(t.spec.id)}`}>${t.spec.id}</a>`,"name"],["Semaphore",t=>s`<a href=${`/s/${encodeURIComponent(t.spec.semaphore)}`}>${t.spec.semaphore}</a>`,"name"],["State",t=>s`<span class="tag tone-${jn(t)}">${Fn(t)}</span>`],["Progress",t=>s`<${qn} job=${t} />`],["Failed",t=>t.failed?s`<strong class="tone-deny">${y(t.failed)}</strong>`:"0","num"],["Submitted",t=>s`<span title=${M(t.submitted_at)}><${$e} at=${t.submitted_at} /> ago</span>${t.spec.author&&s`<div class="sub">by ${t.spec.author}</div>`}`,"num"],["Stored",t=>we(t.bytes),"num"]]}
  />`}function yr(e){return e.away?["away","stop"]:e.draining?["draining","wait"]:e.denied&&e.denied!=="REASON_UNSPECIFIED"?[`denied: ${j(e.denied,"REASON_")}`,"deny"]:e.waiting?["waiting","wait"]:e.tasks?.length?["working","run"]:["idle","idle"]}var sa=e=>e.state==="PERMIT_STATE_HELD"?"lost: clear its slot":e.state==="PERMIT_STATE_COOLING"?`lost: cools for ${X(N(e.expires_in))}`:"";function Wn({data:e}){let t=[...e.workers??[],...e.away??[]];return s`<${K}
    caption="Workers"
    rows=${t}
    rowKey=${(n,o)=>`${n.semaphore} ${F(n.identity)} ${n.identity?.holder_id} ${o}`}
    empty=${s`<${I} title="Nobody works.">A worker is a program that takes tasks, as gkctl work does.<//>`}
    columns=${[["Worker",n=>F(n.identity),"name"],["Semaphore",n=>s`<a href=${`/s/${encodeURIComponent(n.semaphore)}`}>${n.semaphore}</a>`,"name"],["State",n=>s`<span class="tag tone-${yr(n)[1]}">${yr(n)[0]}</span>`],["Free",n=>y(n.free),"num"],["Tasks",n=>n.tasks?.length?s`<ul class="held">${n.tasks.slice(0,8).map(o=>s`<li key=${o.token}><a href=${`/jobs/${encodeURIComponent(o.job)}`}>${o.job}</a> ${y(o.index)}, for <${$e} at=${o.granted_at} />
                ${o.progress&&s` <${Te} share=${o.progress.fraction} label="${Math.round(100*(o.progress.fraction??0))} %" /> ${o.progress.text}`} ${sa(o)}</li>`)}${n.tasks.length>8&&s`<li>and ${y(n.tasks.length-8)} more</li>`}</ul>`:"–"]]}
  />`}var aa=[["","any"],["JOB_STATE_OPEN","open"],["JOB_STATE_ENDED","ended"],["JOB_STATE_CANCELLED","cancelled"],["JOB_STATE_RECEIVING","receiving"]];function ia(){let[e,t]=q(),[n,o]=De(e.get("semaphore")??"",c=>t({semaphore:c}),300),[a,r]=De(e.get("labels")??"",c=>t({labels:c}),300),i={semaphore:e.get("semaphore")??"",labels:e.get("labels")??"",states:e.getAll("state")},[l,u]=h(""),p=S(c=>E("/v1/jobs",{...i,page_size:100,page_token:l},c),["jobs",i,l],{every:2e3,keep:!0});return s`<form class="filters" role="search" onSubmit=${c=>c.preventDefault()}>
      <div class="field"><label for="job-semaphore">Semaphore</label><input id="job-semaphore" data-search value=${n} onInput=${c=>o(c.target.value)} spellcheck=${!1} /></div>
      <div class="field"><label for="job-labels">Labels</label><input id="job-labels" value=${a} onInput=${c=>r(c.target.value)} placeholder="team=billing" spellcheck=${!1} /></div>
      <${xe} label="State" value=${e.get("state")??""} onChange=${c=>t({state:c})} options=${aa} />
    </form>
    <section class="panel">
      <${W} of=${p} what="Reading the jobs">
        ${c=>s`
          ${c.jobs?.length?s`<${Un} jobs=${c.jobs} />`:s`<${I} title="No job matches.">Jobs are submitted by programs, or with gkctl job submit.<//>`}
          <p class="row end">
            ${l&&s`<button type="button" onClick=${()=>u("")}>First page</button>`}
            ${c.next_page_token&&s`<button type="button" onClick=${()=>u(c.next_page_token)}>Next page</button>`}
          </p>`}
      <//>
    </section>`}function la(){let e=S(t=>E("/v1/workers",{},t),["workers"],{every:2e3,keep:!0});return s`<section class="panel"><${W} of=${e} what="Reading the workers">${t=>s`<${Wn} data=${t} />`}<//></section>`}function wr(){se("Jobs");let[e]=q();return s`<${Z}>Jobs<//>
    <${lt} of=${[["jobs","Jobs"],["workers","Workers"]]} label="Jobs and workers" />
    ${e.get("tab")==="workers"?s`<${la} />`:s`<${ia} />`}`}function en({title:e,text:t,verb:n,run:o,done:a,onClose:r,onDone:i,reason:l}){let[u,p]=h(""),[c,$]=h(null),[f,d]=h(!1);return s`<${ce} title=${e} onClose=${r}>
    <form onSubmit=${async _=>{if(_.preventDefault(),!f){d(!0);try{Ee(a(await o(u))),i(),r()}catch(g){$(g),d(!1)}}}}>
      <p>${t}</p>
      ${l&&s`<${O} label="Reason" value=${u} onInput=${p} maxlength="1024" />`}
      <${H} error=${c} />
      <p class="row end"><button type="button" onClick=${r}>Cancel</button><button class="primary">${f?"Working …":n}</button></p>
    </form>
  <//>`}function ca({job:e,onChange:t}){let[n,o]=h(""),{id:a,semaphore:r}=e.spec,i=j(e.state,"JOB_STATE_"),l={onClose:()=>o(""),onDone:t},u=(p,c,$)=>s`<${L} role="ROLE_OPERATOR" semaphore=${r} why=${$} onClick=${()=>o(p)}>${c}<//>`;return s`
    ${u("retry","Retry failed …",e.failed?"":"No task has failed.")}
    ${u("drop","Drop failed …",e.failed?"":"No task has failed.")}
    ${u("cancel","Cancel …",e.over?"The job is over.":i==="cancelled"?"It is cancelled already.":"")}
    ${u("delete","Delete …",e.over?"":"The job is not over. Cancel it first.")}
    ${n==="retry"&&s`<${en} ...${l} title="Retry failed tasks" verb="Retry" text=${`${C(e.failed,"failed task is","failed tasks are")} handed out again.`}
      run=${()=>T(G`/v1/jobs/${a}:retry`,{as_of:e.revision})} done=${p=>`${C(p.tasks??0,"task","tasks")} handed out again.`} />`}
    ${n==="drop"&&s`<${en} ...${l} title="Drop failed tasks" verb="Drop" text=${`${C(e.failed,"failed task is","failed tasks are")} given up. They cannot be retried.`}
      run=${()=>T(G`/v1/jobs/${a}:drop`,{as_of:e.revision})} done=${p=>`${C(p.tasks??0,"task","tasks")} dropped.`} />`}
    ${n==="cancel"&&s`<${en} ...${l} title=${`Cancel ${a}`} verb="Cancel the job" reason
      text=${`${C(e.waiting??0,"waiting task is","waiting tasks are")} not executed, and ${C(e.held??0,"running task stops","running tasks stop")}.`}
      run=${p=>T(G`/v1/jobs/${a}:cancel`,{reason:p,submitted_revision:e.submitted_revision,...be()})} done=${()=>`${a} is cancelled.`} />`}
    ${n==="delete"&&s`<${en} ...${l} title=${`Delete ${a}`} verb="Delete the job" text="The job is removed with its results."
      run=${()=>je("DELETE",G`/v1/jobs/${a}`,{query:{submitted_revision:e.submitted_revision}})} done=${()=>`${a} is deleted.`} onDone=${()=>_e("/jobs")} />`}`}var kr={waiting:"idle",held:"accent",done:"run",failed:"deny",dropped:"stop",cancelled:"stop"},ua=[["","any"],...Object.keys(kr).map(e=>[e,e])];function pa({job:e,index:t,onClose:n}){let o=S(a=>E(G`/v1/jobs/${e}/tasks`,{from:t,page_size:1,payloads:!0,results:!0},a),["task",e,t]);return s`<${ce} title=${`Task ${t} of ${e}`} onClose=${n} wide>
    <${W} of=${o} what="Reading the task">
      ${a=>{let r=a.tasks?.[0];return r?s`<${Ie} of=${[["State",j(r.state,"TASK_STATE_")],["Attempts",y(r.attempts)],["Worker",r.worker&&F(r.worker)],["Token",r.token],["Returned unfinished",r.returns]]} />
          ${r.failure&&s`<h3>Failure</h3><pre>${r.failure}</pre>`}
          <h3>Payload</h3><pre>${bn(r.payload)||"(none)"}</pre>
          <h3>Result</h3><pre>${bn(r.result)||"(none)"}</pre>`:s`<${I} title="There is no such task." />`}}
    <//>
  <//>`}function da({id:e,round:t}){let[n,o]=q(),a=n.get("task")??"",[r,i]=h(0),[l,u]=h(null),p={states:a?[`TASK_STATE_${a.toUpperCase()}`]:[],from:r,page_size:100},c=S($=>E(G`/v1/jobs/${e}/tasks`,p,$),["tasks",e,p,t],{keep:!0});return s`<section class="panel">
    <div class="title"><h2>Tasks</h2>
      <${xe} label="In state" value=${a} onChange=${$=>(i(0),o({task:$}))} options=${ua} /></div>
    <${W} of=${c} what="Reading the tasks">
      ${$=>s`<${K}
          caption="Tasks"
          rows=${$.tasks}
          rowKey=${f=>f.index??0}
          empty=${s`<${I} title="No task is in that state." />`}
          columns=${[["Task",f=>s`<button type="button" class="plain" onClick=${()=>u(f.index??0)}>${y(f.index)}<span class="sr-only">: show payload and result</span></button>`,"num"],["State",f=>s`<span class="tag tone-${kr[j(f.state,"TASK_STATE_")]}">${j(f.state,"TASK_STATE_")}</span>`],["Attempts",f=>y(f.attempts),"num"],["Worker",f=>f.worker?F(f.worker):"–","name"],["Progress",f=>f.progress?s`<${Te} share=${f.progress.fraction} label=${`${Math.round(100*(f.progress.fraction??0))} %`} /> ${f.progress.text}`:"–"],["Failure",f=>f.failure||"–"]]}
        />
        <p class="row end">
          ${r>0&&s`<button type="button" onClick=${()=>i(0)}>First page</button>`}
          ${$.next>0&&s`<button type="button" onClick=${()=>i($.next)}>Next page</button>`}
        </p>`}
    <//>
    ${l!==null&&s`<${pa} job=${e} index=${l} onClose=${()=>u(null)} />`}
  </section>`}function Er({name:e}){se(e);let t=S(p=>E(G`/v1/jobs/${e}`,{},p),["job",e],{every:15e3}),[n,o]=h(0),a=qe(()=>o(p=>p+1),1e3),[r,i]=h(null),l=()=>{t.refresh(),a(),i(null)},u=t.data?.job;return x(()=>{u&&!u.over&&r===null&&i(u.revision)},[u?.over,r]),Ae(r!==null?G`/v1/jobs/${e}:follow`:null,{after_revision:r},{message(p){p.job&&t.set(()=>({job:p.job})),a()},end:l}),t.error?.code==="NOT_FOUND"?s`<${Z}>${e}<//><${I} title="There is no job of this id.">It may have been deleted, or kept for its time. <a href="/jobs">All jobs</a><//>`:u?s`<${Z} aside=${s`<${ca} job=${u} onChange=${l} />`}>${e}<//>
    <div class="stack">
      <section class="panel stack">
        <p class="row"><span class="tag tone-${jn(u)}">${Fn(u)}</span><span>${Pn(u)}</span></p>
        <${qn} job=${u} />
        ${u.cancel_text&&s`<p class="note">Cancelled ${u.cancel_text}</p>`}
        <${Ie} of=${[["Semaphore",s`<a href=${`/s/${encodeURIComponent(u.spec.semaphore)}`}>${u.spec.semaphore}</a>`],["Submitted",`${M(u.submitted_at)}${u.spec.author?` by ${u.spec.author}`:""}`],["Ended",u.ended_at&&`${M(u.ended_at)}, after ${X(Date.parse(u.ended_at)-Date.parse(u.submitted_at))}`],["Priority",u.spec.priority],["Attempts of a task",u.spec.max_attempts],["Timeout",Fe(u.spec.timeout)],["Kept after its end",Fe(u.spec.retention)],["Stored",we(u.bytes)],["Labels",Object.entries(u.spec.labels??{}).map(([p,c])=>`${p}=${c}`).join(", ")]]} />
      </section>
      <${da} id=${e} round=${n} />
    </div>`:s`<${Z}>${e}<//>${t.error&&!t.error.offline?s`<${H} error=${t.error} retry=${t.refresh} />`:s`<${ke} what="Reading the job" />`}`}function xr(){se("Log in");let[e]=q(),[t,n]=h(""),[o,a]=h(null),[r,i]=h(!1),l=e.get("next")??"/";return s`<div class="login">
    <img src="/assets/icon.svg" alt="" width="48" height="48" />
    <${Z}>Log in to Gatekeeper<//>
    <form onSubmit=${async p=>{p.preventDefault(),i(!0);try{await No(t.trim()),_e(/^\/(?![/\\])/.test(l)?l:"/",{replace:!0})}catch(c){a(c),i(!1)}}}>
      <${O}
        label="Bearer token"
        help="From gkctl auth token create. It stays in this browser as a cookie that scripts cannot read, for 12 hours."
        type="password"
        autocomplete="current-password"
        value=${t}
        onInput=${n}
        required
        autofocus
      />
      ${o&&s`<${H} error=${o.status===401?{message:"The servers do not know this token. It may have ended, or been revoked."}:o} />`}
      <p class="row end"><button class="primary" disabled=${r||!t.trim()}>${r?"Asking …":"Log in"}</button></p>
    </form>
  </div>`}function Tr({change:e,effects:t,onEnd:n}){let o=de(()=>t.flatMap(m=>m.stopped??[]),[t]),a=de(()=>Date.now(),[e]),[r,i]=h({});Pe();let l=o.filter(m=>!r[m.permit.token]),u=[...new Set(l.map(m=>m.permit.semaphore))],p=de(()=>u.length<=40?u:[],[e]),c=m=>m.length&&i(_=>({...Object.fromEntries(m),..._})),$=async()=>{let{items:m}=await Se("/v1/holders",{names:p},"permits",void 0,1e5),_=new Map(m.map(g=>[g.token,g]));c(o.filter(g=>!_.has(g.permit.token)).map(g=>[g.permit.token,{how:"gone",after:Date.now()-a}]))};if(Ae(o.length?"/v1/watch":null,{names:p,permits:!0,from_revision:String(BigInt(e)+1n)},{message({events:m=[]}){let _=new Set(o.map(g=>g.permit.token));c(m.filter(g=>g.permit&&_.has(g.permit.token)&&g.ended).map(g=>[g.permit.token,{how:j(g.ended,"PERMIT_END_"),after:Date.now()-a}]))},missed:()=>$().catch(()=>{})}),x(()=>{o.length&&l.length===0&&n?.()},[l.length]),o.length===0)return s`<p class="lead">No holder had to stop.</p>`;let f=l.filter(m=>Date.now()-a>N(m.free_within)),d=o.length-l.length;return s`<section class="follow" aria-label="Holders that stop">
    <p class="lead" role="status">
      ${l.length===0?`${C(o.length,"holder has","holders have")} stopped.`:`${y(d)} of ${C(o.length,"holder has","holders have")} stopped.`}
      ${f.length>0&&s` <strong>${C(f.length,"holder","holders")} did not stop in time.</strong>`}
    </p>
    <${Te} share=${d/o.length} tone=${f.length?"stop":"run"} label=${`${d} of ${o.length} stopped`} />
    <${K}
      caption="Holders that must stop"
      rows=${[...f,...l.filter(m=>!f.includes(m)),...o.filter(m=>r[m.permit.token])].slice(0,600)}
      rowKey=${m=>m.permit.token}
      columns=${[["Semaphore",m=>s`<a href=${`/s/${encodeURIComponent(m.permit.semaphore)}`}>${m.permit.semaphore}</a>`,"name"],["Holder",m=>F(m.permit.identity),"name"],["Token",m=>m.permit.token,"num"],["Now",m=>{let _=r[m.permit.token];if(_)return s`<span class="tone-run">${_.how} after ${X(_.after)}</span>`;let g=a+N(m.free_within)-Date.now();return g>0?s`<span class="tone-wait">stops within <span class="num">${at(g)}</span></span>`:s`<span class="tone-deny">did not stop in time</span>`}]]}
    />
  </section>`}var ct=100,Sr=(e,t)=>{let n=[];for(let o=Math.floor(e/ct);o<=Math.floor(Math.max(e,t-1)/ct);o++)n.push(o);return n};function Cr(e){let t=JSON.stringify(e),n=B(Be),[,o]=h(0),a=()=>o(f=>f+1),r=de(()=>({pages:new Map,asked:new Map,total:void 0,window:[0,1],round:0}),[t]),i=V(0),l=V(r);l.current=r;let u=(f,d)=>{if(!d&&(r.pages.has(f)||r.asked.has(f)))return;r.asked.get(f)?.abort();let m=new AbortController;r.asked.set(f,m);let _=performance.now();E("/v1/definitions",{...e,page_size:ct,skip:f*ct},m.signal).then(g=>{l.current===r&&(r.asked.delete(f),r.error=void 0,i.current=performance.now()-_,r.pages.set(f,g.records??[]),r.round++,r.total=g.total??(g.records??[]).length,a())},g=>{m.signal.aborted||l.current!==r||(r.asked.delete(f),r.error=g,a())})},p=(f,d)=>{r.window=[f,d];let m=Sr(f,d);for(let[_,g]of r.asked)m.includes(_)||(g.abort(),r.asked.delete(_));for(let _ of m)u(_)},c=()=>{let f=Sr(...r.window);for(let d of r.pages.keys())f.includes(d)||r.pages.delete(d);for(let d of f)u(d,!0)},$=V(c);return $.current=c,x(()=>(u(0),()=>r.asked.forEach(f=>f.abort())),[t]),x(()=>{n&&$.current()},[n]),x(()=>{let f=setInterval(()=>document.hidden||$.current(),_t(i.current));return()=>clearInterval(f)},[t,r.round]),{at:f=>r.pages.get(Math.floor(f/ct))?.[f%ct],total:r.total,error:r.error,want:p,refresh:c,update(f){let d=new Map(f.map(m=>[m.definition.name,m]));for(let m of r.pages.values())m.forEach((_,g)=>{let v=d.get(_.definition.name);v&&(m[g]=v)});a()}}}var Dr=8,tn=4;function Rr({total:e,height:t,row:n,range:o,open:a,label:r,head:i,columns:l}){let u=V(null),[p,c]=h([0,30]),[$,f]=h(0),d=V(!1);ft(()=>{let k=0,Y=()=>{k=0;let he=u.current?.getBoundingClientRect();if(!he)return;let re=Math.max(0,Math.floor(-he.top/t/tn)*tn-Dr),J=Math.min(e,Math.ceil((innerHeight-he.top)/t/tn)*tn+Dr);c(ee=>ee[0]===re&&ee[1]===J?ee:[re,Math.max(re,J)])},ie=()=>k||=requestAnimationFrame(Y);Y(),addEventListener("scroll",ie,{passive:!0}),addEventListener("resize",ie);let le=new ResizeObserver(ie);return le.observe(document.body),()=>{cancelAnimationFrame(k),removeEventListener("scroll",ie),removeEventListener("resize",ie),le.disconnect()}},[e,t]),x(()=>{o?.(p[0],p[1])},[p[0],p[1],e]),ft(()=>{if(!d.current)return;let k=u.current?.querySelector(`[data-row="${$}"]`);k&&(d.current=!1,k.focus({preventScroll:!0}),k.scrollIntoView({block:"nearest"}))});let m=Math.min($,Math.max(0,e-1)),_=k=>{if(e===0)return;d.current=!0,f(Math.max(0,Math.min(e-1,k)));let Y=u.current.getBoundingClientRect().top+scrollY+k*t;(Y<scrollY||Y>scrollY+innerHeight)&&scrollTo(0,Math.max(0,Y-innerHeight/2))},g=Math.max(1,Math.floor(innerHeight/t)-4),v={ArrowDown:()=>_(m+1),ArrowUp:()=>_(m-1),PageDown:()=>_(m+g),PageUp:()=>_(m-g),Home:()=>_(0),End:()=>_(e-1),Enter:()=>a?.(m)},w=k=>{!v[k.key]||k.ctrlKey||k.metaKey||k.altKey||k.key==="Enter"&&k.target.tagName==="A"||(k.preventDefault(),v[k.key]())},D=k=>{let Y=k.target.closest("[data-row]");Y&&f(Number(Y.dataset.row))};x(()=>{let k=()=>_(m);return addEventListener("enter-list",k),()=>removeEventListener("enter-list",k)});let A=[];for(let k=p[0];k<Math.min(p[1],e);k++)A.push(k);return e>0&&(m<p[0]||m>=p[1])&&A.push(m),s`<div class="grid" role="grid" aria-label=${r} aria-rowcount=${e+1} aria-colcount=${l} onKeyDown=${w} onFocusIn=${D}>
    <div class="grid-head" role="row" aria-rowindex="1">${i}</div>
    <div class="grid-body" role="rowgroup" ref=${u} style=${{height:`${e*t}px`}}>
      ${A.map(k=>s`<div
          key=${k}
          class="grid-row"
          role="row"
          aria-rowindex=${k+2}
          data-row=${k}
          tabindex=${k===m?0:-1}
          style=${{transform:`translateY(${k*t}px)`,height:`${t}px`}}
        >${n(k)}</div>`)}
    </div>
  </div>`}function zn(e){return{search:e.get("q")??"",group:e.get("group")??"",labels:e.get("labels")??"",states:e.getAll("state").map(t=>`DEFINITION_STATE_${t.toUpperCase()}`)}}var Hn=e=>e.value.slice(17).toLowerCase();function ma({counts:e,total:t}){let[n,o]=q(),a=n.getAll("state"),r=i=>o({state:a.includes(i)?a.filter(l=>l!==i):[...a,i]});return s`<div class="states" role="group" aria-label="Filter by state">
    <button type="button" class="stat" aria-pressed=${a.length===0} onClick=${()=>o({state:""})}>
      <span class="stat-n num">${t===void 0?"–":y(t)}</span><span class="stat-w">all</span>
    </button>
    ${Kt.map(i=>{let l=e?.get(i.value);return s`<button
        type="button"
        key=${i.value}
        class="stat ${e&&!l?"zero":""} tone-${i.tone}"
        aria-pressed=${a.includes(Hn(i))}
        title=${i.help}
        onClick=${()=>r(Hn(i))}
      >
        <span class="stat-n num">${e?y(l):"–"}</span><span class="stat-w"><${Tt} value=${i.value} text=${Hn(i)} /></span>
      </button>`})}
  </div>`}var fa=e=>/[,=!()"]/.test(e)?`"${e.replaceAll('"','\\"')}"`:e;function $a({labels:e}){let[t,n]=q(),o=t.get("labels")??"",[a,r]=De(o,c=>n({labels:c}),400),[i,l]=h(""),u=e?.find(c=>c.key===i)?.values??[],p=c=>{c&&(n({labels:[o,c==="*"?i:`${i}=${fa(c)}`].filter(Boolean).join(",")}),l(""))};return s`<div class="field">
      <label for="labels">Labels</label>
      <input id="labels" value=${a} placeholder="team=data,tier!=test" onInput=${c=>r(c.target.value)} autocomplete="off" spellcheck=${!1} />
    </div>
    ${e?.length>0&&s`<${xe} label="Add a label" value=${i} onChange=${l} options=${[["","Label …"],...e.map(c=>[c.key,c.key])]} />
      ${i&&s`<${xe} label="Value" value="" onChange=${p} options=${[["","Value …"],["*","any value"],...u.map(c=>[c.value,`${c.value} (${y(c.count)})`])]} />`}`}`}function ha({summary:e,shown:t}){let[n,o]=q(),[a,r]=De(n.get("q")??"",d=>o({q:d})),[i,l]=De(n.get("group")??"",d=>o({group:d}),400),u=["q","group","labels","state"].filter(d=>n.get(d)),p=S(d=>Se("/v1/known",{},"callers",d),["known"]),c=[...new Set((p.data?.items??[]).map(d=>d.group))].sort(),$=Bt("(min-width: 60rem)");return s`<form class="filters" role="search" onSubmit=${d=>d.preventDefault()}>
    <div class="field grow">
      <label for="search">Search <kbd aria-hidden="true">/</kbd></label>
      <input id="search" type="search" data-search value=${a} placeholder="Words of name, description or label" onInput=${d=>r(d.target.value)} onKeyDown=${d=>{d.key!=="ArrowDown"&&d.key!=="Enter"||(d.preventDefault(),dispatchEvent(new Event("enter-list")))}} autocomplete="off" spellcheck=${!1} />
    </div>
    <details class="more-filters" open=${$||u.some(d=>d==="group"||d==="labels")}>
      <summary>Filters</summary>
      <div class="filters-in">
        <div class="field">
          <label for="group">Lets in group</label>
          <input id="group" value=${i} list="groups" placeholder="any" onInput=${d=>l(d.target.value)} autocomplete="off" spellcheck=${!1} />
          <datalist id="groups">${c.map(d=>s`<option value=${d} />`)}</datalist>
        </div>
        <${$a} labels=${e?.labels} />
      </div>
    </details>
    <p class="row filters-end">
      <span class="num" role="status">${t}</span>
      ${u.length>0&&s`<button type="button" onClick=${()=>o({q:"",group:"",labels:"",state:""})}>Clear filters</button>`}
      <a class="button" href=${`/move?${new URLSearchParams([...n,["from_filter","1"]])}`}>Move or pause</a>
    </p>
  </form>`}var Bn=["State","Semaphore","In use","Holder","Time left","Queue","Lets in group"],Kn=class extends st{shouldComponentUpdate(t){let{record:n,permits:o,live:a}=this.props;return t.record!==n||t.permits!==o||t.live?.waiters!==a?.waiters}render({record:t,permits:n,live:o}){return s`<${ga} record=${t} permits=${n} live=${o} />`}};function ga({record:e,permits:t,live:n}){if(!e)return s`<span class="row-loading" role="gridcell" aria-colspan=${Bn.length}>Reading …</span>`;let o=e.definition,a=t?.[0],r=(e.holders??0)-1,i=zt(e)[0],l=`/s/${encodeURIComponent(o.name)}`,u=Number(e.used??0),p=o.permits??0,c=n?.waiters??e.waiters??0;return s`
    <span class="c-state" role="gridcell"><${_r} record=${e} /></span>
    <span class="c-name" role="rowheader">
      <a href=${l} tabindex="-1">${o.name}</a>
      <span class="sub">${i??o.description??""}</span>
    </span>
    <span class="c-used num" role="gridcell">
      <${Te} share=${p?u/p:u?1:0} tone=${u>p?"deny":"accent"} label="${u} of ${p} permits in use" />
      <span>${y(u)}<span class="faint"> / ${y(p)}</span></span>
    </span>
    <span class="c-holder" role="gridcell">
      ${a?s`<span class="clip">${F(a.identity)}</span><span class="sub">for <${$e} at=${a.granted_at} />${r>0&&` and ${y(r)} more`}</span>`:r>=0?s`<span class="sub">${C(r+1,"holder","holders")}</span>`:s`<span class="faint">–</span>`}
    </span>
    <span class="c-left" role="gridcell">${a?s`<${Vt} at=${a.deadline} of=${N(a.duration)} />`:s`<span class="faint">–</span>`}</span>
    <span class="c-queue num" role="gridcell">${c?s`<span class="tag tone-wait">${y(c)}</span>`:s`<span class="faint">0</span>`}</span>
    <span class="c-group" role="gridcell"><code class="clip">${o.group_pattern}</code></span>`}var _a=6e3;function Or(){se("Overview");let[e]=q(),t=zn(e),n=Cr(t),o=Bt("(max-width: 47.99rem)"),a=Bt("(max-width: 63.99rem)"),r=o?104:a?76:52,{search:i,group:l,labels:u}=t,[p,c]=h(1e4),$=S(async R=>{let P=performance.now(),U=await E("/v1/definitions:summarize",{search:i,group:l,labels:u},R);return c(_t(performance.now()-P)),U},["summary",i,l,u],{every:p,keep:!0}),f=de(()=>$.data&&new Map(($.data.states??[]).map(R=>[R.state,R.count])),[$.data]),[d,m]=h(new Map),[_,g]=h(new Map),[v,w]=h([]),D=V(new Set),[A,k]=h(5e3),Y=V([0,0]),ie=qe(()=>{let[R,P]=Y.current,U=[],ae=0;for(let ge=R;ge<P&&ae<_a;ge++){let pe=n.at(ge)?.definition.name;pe&&(U.push(pe),ae+=pe.length+8)}w(ge=>ge.join(`
`)===U.join(`
`)?ge:U)},150),le=(R,P)=>{Y.current=[R,P],n.want(R,P),ie()};x(ie);let he=async(R,P)=>{let U=Date.now(),{items:ae}=await Se("/v1/holders",{names:R},"permits",P),ge=new Map(R.map(pe=>[pe,[]]));for(let pe of ae)ge.get(pe.semaphore)?.push({...pe,deadline:pe.expires_in?U+N(pe.expires_in):0});m(pe=>new Map([...pe,...ge]))},re=qe(async()=>{let R=[...D.current];if(D.current.clear(),R.length===0)return;let P=performance.now(),[U]=await Promise.all([E("/v1/definitions",{names:R,page_size:1e3}),he(R)]).catch(()=>[]);if(!U)return;n.update(U.records??[]);let ae=performance.now()-P;k(ae<20?5e3:_t(ae))},40);x(()=>{if(v.length===0)return;let R=new AbortController;return he(v,R.signal).catch(()=>{}),()=>R.abort()},[v]);let J=()=>{v.forEach(R=>D.current.add(R)),re()};x(()=>{let R=setInterval(()=>document.hidden||J(),A);return()=>clearInterval(R)},[v,A]),Ae(v.length?"/v1/watch":null,{names:v,permits:!0,live_every:"1s"},{open:R=>R&&J(),missed:J,message({events:R=[]}){for(let P of R)P.semaphore&&D.current.add(P.semaphore);re()},live(R){let P=(R.live??R).semaphores??[],U=Date.now();g(new Map(P.map(ae=>[ae.semaphore,ae]))),m(ae=>{let ge=new Map(ae);for(let pe of P){let Xn=new Map((pe.deadlines??[]).map(Ze=>[Ze.token,U+N(Ze.expires_in)])),Zn=ge.get(pe.semaphore);Zn&&ge.set(pe.semaphore,Zn.map(Ze=>Xn.has(Ze.token)?{...Ze,deadline:Xn.get(Ze.token)}:Ze))}return ge})}});let ee=R=>{let P=n.at(R);P&&_e(`/s/${encodeURIComponent(P.definition.name)}`)},b=n.total,ue=b===void 0?"…":C(b,"semaphore","semaphores"),te=de(()=>s`<${Z} aside=${s`<${ba} />`}>Overview<//>
      <${Xe} />
      <${ma} counts=${f} total=${$.data&&($.data.total??0)} />
      <${ha} summary=${$.data} shown=${ue} />`,[f,$.data,ue]);return s`${te}
    ${n.error&&!n.error.offline&&s`<${H} error=${n.error} retry=${n.refresh} />`}
    ${b===void 0?!n.error&&s`<${ke} what="Reading the semaphores" />`:b===0?s`<${va} filtered=${[...e].length>0} />`:s`<${Rr}
            label="Semaphores"
            total=${b}
            height=${r}
            columns=${Bn.length}
            range=${le}
            open=${ee}
            head=${Bn.map(R=>s`<span role="columnheader">${R}</span>`)}
            row=${R=>{let P=n.at(R),U=P?.definition.name;return s`<${Kn} record=${P} permits=${d.get(U)} live=${_.get(U)} />`}}
          />`}`}function ba(){let[e,t]=h(!1),[n,o]=h("");return s`<${L} role="ROLE_EDITOR" onClick=${()=>t(!0)}>New semaphore …<//>
    ${e&&s`<${ce} title="New semaphore" onClose=${()=>t(!1)}>
      <form onSubmit=${r=>{r.preventDefault(),n.trim()&&_e(`/s/${encodeURIComponent(n.trim())}?tab=rule`)}}>
        <${O} label="Name" value=${n} onInput=${o} maxlength="256" required help="As callers ask for it. It cannot be changed later." />
        <p class="row end"><button type="button" onClick=${()=>t(!1)}>Cancel</button><button class="primary">Write its rule …</button></p>
      </form>
    <//>`}`}function va({filtered:e}){return e?s`<${I} title="No semaphore matches.">Remove a filter to see more.<//>`:s`<${I} title="There are no semaphores yet.">Create the first one with <code>gkctl apply -f FILE</code>, or give gatekeeperd a file by <code>--definitions</code>.<//>`}var ya=[["move","Move"],["pause","Pause"],["resume","Resume"],["cordon","Cordon"]],Ir=e=>e.split(/[\n,]/).map(t=>t.trim()).filter(Boolean);function Nr(){let[e,t]=q(),[n,o]=h(e.getAll("names").join(`
`)),[a,r]=h(e.get("labels")??""),[i,l]=h(e.get("all")==="1"),[u,p]=h(null),c=zn(e),$=e.get("from_filter")==="1"&&(c.search||c.group||c.states.length>0);x(()=>{$&&Se("/v1/definitions",c,"records",void 0,1e3).then(({items:d,more:m})=>{o(d.map(_=>_.definition.name).join(`
`)),r(""),t({q:"",group:"",state:"",labels:"",from_filter:""}),m&&p(new Error("More than 1,000 semaphores match. Only the first 1,000 are listed here; choose by a label or a glob instead."))},p)},[]);let f=i?{all:!0}:{...Ir(n).length&&{names:Ir(n)},...a.trim()&&{labels:a.trim()}};return{names:n,setNames:o,labels:a,setLabels:r,everything:i,setEverything:l,selector:f,error:u,given:i||n.trim()!==""||a.trim()!==""}}function Mr({of:e,optional:t}){let n=S(e.given?r=>E("/v1/definitions",{names:e.selector.names,labels:e.selector.labels,page_size:4},r):null,["chosen",e.selector],{keep:!0}),o=n.data?.records??[],a=n.data?.total??0;return s`<fieldset class="panel stack">
    <legend>Which semaphores</legend>
    <div class="form">
      <${O} label="Names" area=${4} value=${e.names} onInput=${e.setNames} disabled=${e.everything} placeholder="nightly-*" help="One name or glob per line." class="full" data-search />
      <${O} label="Labels" value=${e.labels} onInput=${e.setLabels} disabled=${e.everything} placeholder="team=data,tier!=test" help="Names and labels must both match." />
      <${fe} label="Every semaphore" checked=${e.everything} onChange=${e.setEverything} />
    </div>
    ${e.error&&s`<${H} error=${e.error} />`}
    ${n.error&&!n.error.offline&&s`<${H} error=${n.error} />`}
    <p role="status" class="faint">
      ${e.given?n.data?`${C(a,"semaphore","semaphores")} chosen${o.length?`: ${Ve(o.map(r=>r.definition.name),4)}${a>4?" …":""}`:""}`:"Reading …":t??"Choose some, or every one."}
    </p>
  </fieldset>`}function Vn({of:e,onAgain:t}){return s`<section class="panel stack" aria-label="What was done">
    <h2>${e.text}</h2>
    <${Tr} key=${e.change} change=${e.change} effects=${e.effects} />
    <p class="row">
      <a class="button" href=${`/activity?change=${e.change}`}>Change ${e.change}</a>
      <${L} role=${e.role} onClick=${()=>rt(e.change)}>Undo …<//>
      <button type="button" onClick=${t}>Another one</button>
    </p>
  </section>`}function Jn(){let[e,t]=h(null);return[e,(o,a)=>(r,i)=>{let l=r.change??r.revision??r.cordon?.revision;l&&l!=="0"&&t({text:o,role:a,change:l,effects:r.effects?.length?r.effects:i.effects??[]})},()=>t(null)]}function Lr({id:e}){let t=S(o=>Se("/v1/known",{},"callers",o,5e3),["known"]),n=[...new Set((t.data?.items??[]).map(o=>o.group))].sort();return s`<datalist id=${e}>${n.map(o=>s`<option value=${o} />`)}</datalist>`}function wa({of:e}){let t=(e.not_moved??[]).filter(o=>o.problem),n=(e.not_moved??[]).length-t.length;return s`
    <p class="lead">${e.moves?.length?`${C(e.moves.length,"semaphore moves","semaphores move")}.`:e.mistake?"":"There is nothing to move."}${n>0&&s`<span class="faint"> ${y(n)} need no move.</span>`}</p>
    ${e.mistake&&s`<p class="note">${e.mistake}</p>`}
    ${e.doubts?.length>0&&s`<div class="failure" role="alert"><p class="failure-text">This move is likely a mistake.</p><ul>${e.doubts.map(o=>s`<li>${o}</li>`)}</ul></div>`}
    ${t.length>0&&s`<div class="warnings"><p>${C(t.length,"semaphore has","semaphores have")} to be moved by hand:</p>
      <ul>${t.slice(0,20).map(o=>s`<li><a href=${`/s/${encodeURIComponent(o.semaphore)}?tab=rule`}>${o.semaphore}</a>: ${o.why}</li>`)}</ul></div>`}`}function ka(){let e=Nr(),[t]=q(),[n,o]=h({from:t.get("from")??"",to:t.get("to")??"",drain:""}),[a,r]=h(!1),[i,l,u]=Jn(),p=()=>({selector:e.given?e.selector:{all:!0},from_group:n.from.trim(),to_group:n.to.trim(),...Me(n.drain),...be()}),c=!n.from.trim()||!n.to.trim()?"Say from which group to which.":Le(()=>Me(n.drain));return i?s`<${Vn} of=${i} onAgain=${u} />`:s`<form class="stack" onSubmit=${$=>($.preventDefault(),c||r(!0))}>
    <fieldset class="panel">
      <legend>From where to where</legend>
      <div class="form">
        <${O} label="From group" value=${n.from} onInput=${$=>o({...n,from:$})} list="move-groups" required />
        <${O} label="To group" value=${n.to} onInput=${$=>o({...n,to:$})} list="move-groups" required />
        <${Ye} value=${n} set=${o} />
        <${Lr} id="move-groups" />
      </div>
    </fieldset>
    <${Mr} of=${e} optional="Every semaphore that admits the old group, and not the new one. Choose fewer by names or labels." />
    <p class="row end"><${L} role="ROLE_OPERATOR" type="submit" kind="primary" why=${c}>Preview the move …<//></p>
    ${a&&s`<${Q}
      title=${`Move from ${n.from} to ${n.to}`}
      verb=${$=>`Move ${C($.moves?.length??0,"semaphore","semaphores")}`}
      role="ROLE_OPERATOR"
      preview=${async $=>T("/v1/move",{...p(),dry_run:!0},$)}
      extra=${$=>s`<${wa} of=${$} />`}
      nothing=${$=>$.moves?.length?"":$.mistake||"There is nothing to move."}
      run=${async($,f)=>T("/v1/move",{...p(),expected:f.digest,...$})}
      done=${$=>`${C($.moves?.length??0,"semaphore","semaphores")} moved from ${n.from} to ${n.to}.`}
      onDone=${l(`Moved from ${n.from} to ${n.to}`,"ROLE_OPERATOR")}
      onClose=${()=>r(!1)}
    />`}
  </form>`}function Ar({resume:e}){let t=Nr(),[n,o]=h({lasts:"",until:"",stop:!1,drain:"",keep:!0}),[a,r]=h(!1),[i,l,u]=Jn(),p=()=>e?{selector:t.selector}:{selector:t.selector,...Ne(n),...n.keep&&{keep_paused:!0},...n.stop&&{stop:!0,...Me(n.drain)}},c=t.given?Le(()=>(Ne(n),Me(n.drain))):"Choose some semaphores first.";if(i)return s`<${Vn} of=${i} onAgain=${u} />`;let $=e?"resume":"pause";return s`<form class="stack" onSubmit=${f=>(f.preventDefault(),c||r(!0))}>
    <${Mr} of=${t} />
    ${!e&&s`<fieldset class="panel">
      <legend>How long, and what becomes of running work</legend>
      <div class="form">
        <${Ue} value=${n} set=${o} without="Empty: until it is resumed." />
        <${fe} label="Stop holders too" checked=${n.stop} onChange=${f=>o({...n,stop:f})} help="Otherwise running work continues to its end." />
        ${n.stop&&s`<${Ye} value=${n} set=${o} />`}
        <${fe} label="Leave paused ones as they are" checked=${n.keep} onChange=${f=>o({...n,keep:f})} help="Otherwise this pause replaces theirs, also when it ends." />
      </div>
    </fieldset>`}
    <p class="row end"><${L} role="ROLE_OPERATOR" type="submit" kind="primary" why=${c}>${e?"Preview …":"Preview the pause …"}<//></p>
    ${a&&s`<${Q}
      title=${e?"Resume":"Pause"}
      verb=${e?"Resume":"Pause"}
      role="ROLE_OPERATOR"
      preview=${async f=>T("/v1/preview",{[$]:p()},f)}
      run=${async(f,d)=>T(`/v1/${$}`,{...p(),expected:d.digest,...f})}
      done=${f=>`${C(f.names?.length??0,"semaphore","semaphores")} ${$}d.`}
      onDone=${(f,d)=>l(`${C(f.names?.length??0,"semaphore","semaphores")} ${$}d`,"ROLE_OPERATOR")(f,d)}
      onClose=${()=>r(!1)}
    />`}
  </form>`}function Ea(){let[e]=q(),[t,n]=h({group:e.get("group")??"",acquirer:e.get("acquirer")??"",lasts:"",until:"",drain:""}),[o,a]=h(!1),[r,i,l]=Jn(),u=()=>({...t.group.trim()&&{group_pattern:t.group.trim()},...t.acquirer.trim()&&{acquirer_pattern:t.acquirer.trim()},...Ne(t),...Me(t.drain)}),p=!t.group.trim()&&!t.acquirer.trim()?"Say whom to shut out.":Le(()=>u());return r?s`<${Vn} of=${r} onAgain=${l} />`:s`<form class="stack" onSubmit=${c=>(c.preventDefault(),p||a(!0))}>
    <p>A cordon shuts a group or a host out of every semaphore, for example while it is patched.</p>
    <fieldset class="panel">
      <legend>Whom, and for how long</legend>
      <div class="form">
        <${O} label="Group pattern" value=${t.group} onInput=${c=>n({...t,group:c})} list="cordon-groups" help="A caller is caught when either pattern matches." />
        <${O} label="Acquirer pattern" value=${t.acquirer} onInput=${c=>n({...t,acquirer:c})} placeholder="host-3" />
        <${Ue} value=${t} set=${n} without="Empty: until it is ended." />
        <${Ye} value=${t} set=${n} />
        <${Lr} id="cordon-groups" />
      </div>
    </fieldset>
    <p class="row end"><${L} role="ROLE_OPERATOR" type="submit" kind="primary" why=${p}>Preview the cordon …<//></p>
    ${o&&s`<${Q}
      title="Cordon"
      verb="Cordon"
      role="ROLE_OPERATOR"
      preview=${async c=>T("/v1/preview",{cordon:u()},c)}
      run=${async c=>T("/v1/cordon",{...u(),...c})}
      done=${c=>`Cordon ${c.cordon?.id} is in force.`}
      onDone=${(c,$)=>i(`Cordon ${c.cordon?.id} is in force`,"ROLE_OPERATOR")(c,$)}
      onClose=${()=>a(!1)}
    />`}
  </form>`}function jr(){se("Move and pause");let[e]=q(),t=e.get("do")??"move";return s`<${Z}>Move and pause<//>
    <${Xe} />
    <${lt} of=${ya} query="do" label="What to do" />
    ${t==="pause"?s`<${Ar} key="pause" />`:t==="resume"?s`<${Ar} key="resume" resume />`:t==="cordon"?s`<${Ea} />`:t==="move"?s`<${ka} />`:s`<${I} title="There is no such form." />`}`}var Fr=e=>e.all?"every semaphore":e.labels?`semaphores with ${e.labels}`:Ve(e.names??[]),Pr=e=>e.names?.length===1?e.names[0]:"";function qr({selector:e,onClose:t,onDone:n}){let[o,a]=h({lasts:"",until:"",stop:!1,drain:""}),r=()=>({selector:e,...Ne(o),...o.stop?{stop:!0,...Me(o.drain)}:{}});return s`<${Q}
    title=${`Pause ${Fr(e)}`}
    verb="Pause"
    role="ROLE_OPERATOR"
    semaphore=${Pr(e)}
    deps=${o}
    preview=${async i=>T("/v1/preview",{pause:r()},i)}
    run=${async(i,l)=>T("/v1/pause",{...r(),expected:l.digest,...i})}
    done=${i=>`${C(i.names?.length??0,"semaphore","semaphores")} paused.`}
    onClose=${t}
    onDone=${n}
  >
    <p>Nobody gets a permit until the pause ends. The queue keeps its places.</p>
    <div class="form">
      <${Ue} value=${o} set=${a} without="Empty: until it is resumed." />
      <${fe} label="Stop holders too" checked=${o.stop} onChange=${i=>a({...o,stop:i})} help="Otherwise running work continues to its end." />
      ${o.stop&&s`<${Ye} value=${o} set=${a} />`}
    </div>
  <//>`}function Ur({selector:e,onClose:t,onDone:n}){return s`<${Q}
    title=${`Resume ${Fr(e)}`}
    verb="Resume"
    role="ROLE_OPERATOR"
    semaphore=${Pr(e)}
    preview=${async o=>T("/v1/preview",{resume:{selector:e}},o)}
    run=${async(o,a)=>T("/v1/resume",{selector:e,expected:a.digest,...o})}
    done=${o=>o.names?.length?`${C(o.names.length,"semaphore","semaphores")} resumed.`:"Nothing was paused."}
    onClose=${t}
    onDone=${n}
  />`}function Wr({name:e}){let[t,n]=q(),o={group:t.get("group")??"",acquirer:t.get("acquirer")??"",weight:t.get("weight")??"",worker:t.get("worker")??""},[a,r]=h(o),l=S(f=>E("/v1/known",{page_size:1e3},f),["known"]).data?.callers??[],u={identity:{group:o.group,acquirer:o.acquirer},...o.weight&&{weight:Number(o.weight)},...o.worker&&{worker:!0}},p=S(o.acquirer?f=>T(G`/v1/semaphores/${e}:explain`,u,f):null,["explain",e,o],{keep:!0,every:5e3}),c=f=>{f.preventDefault(),n(a),p.refresh()},$=f=>d=>r({...a,[f]:d});return s`<section class="panel">
    <h2>Would this caller get a permit?</h2>
    <form class="form" onSubmit=${c}>
      <${O} label="Group" value=${a.group} onInput=${$("group")} list="known-groups" placeholder="default" help="Where the caller runs: a zone, a site." />
      <${O} label="Acquirer" value=${a.acquirer} onInput=${$("acquirer")} list="known-acquirers" required help="Who asks, normally a host." />
      <${O} label="Weight" type="number" min="1" value=${a.weight} onInput=${$("weight")} placeholder="1" />
      <${fe} label="It is a worker" checked=${a.worker==="1"} onChange=${f=>$("worker")(f?"1":"")} help="It asks for a task." />
      <datalist id="known-groups">${[...new Set(l.map(f=>f.group))].map(f=>s`<option value=${f} />`)}</datalist>
      <datalist id="known-acquirers">${[...new Set(l.map(f=>f.acquirer))].map(f=>s`<option value=${f} />`)}</datalist>
      <p class="row full"><button class="primary">Explain</button></p>
    </form>
    ${p.error&&!p.error.offline&&s`<${H} error=${p.error} />`}
    ${o.acquirer&&!p.data&&!p.error&&s`<${ke} what="Asking" />`}
    ${p.data&&s`<${xa} of=${p.data} />`}
  </section>`}function xa({of:e}){let t=!e.reason||e.reason==="REASON_UNSPECIFIED";return s`<div class="stack" role="status">
    <p class="lead tone-${t?"run":"deny"}"><strong>${t?"It would get a permit.":`Denied: ${j(e.reason,"REASON_")}.`}</strong> ${e.summary}</p>
    ${e.recovering&&s`<p class="note">Nothing is granted for another ${Math.ceil(N(e.recovering)/1e3)} s: a recovery of the cluster is being waited out.</p>`}
    <ol class="steps">
      ${(e.steps??[]).map(n=>s`<li key=${n.number}>
        <span class="step-mark tone-${n.passed?"run":"deny"}"><span aria-hidden="true">${n.passed?"✓":"✗"}</span><span class="sr-only">${n.passed?"passed":"failed"}</span></span>
        <span class="step-name">${n.number} ${n.name}</span><span>${n.text}</span>
      </li>`)}
    </ol>
    ${e.holders?.length>0&&s`<p>Taken by ${e.holders.slice(0,5).map((n,o)=>s`${o?", ":""}${F(n.identity)} for <${$e} at=${n.granted_at} />`)}${(e.holder_count??0)>5&&` and ${y(e.holder_count-5)} more`}.</p>`}
    ${e.waiter_count>0&&s`<p>${C(e.waiter_count,"caller waits","callers wait")} in the queue.</p>`}
    ${e.why_tasks_wait&&s`<p>${e.why_tasks_wait}</p>`}
  </div>`}var Ta={claimed:"accent",done:"run",spent:"stop",failed:"deny","cut short":"stop",open:"wait",forgotten:"idle"};async function Sa(e,t){let n="",o,a=[];do o=await E("/v1/firings",{semaphore:e,page_size:1e3,page_token:n},t),a.push(...o.firings??[]),n=o.next_page_token??"";while(n&&a.length<2e4);return{...o,firings:a.reverse()}}function Hr({name:e,events:t}){let n=S(u=>Sa(e,u),["firings",e,t],{keep:!0}),[o,a]=h(null),[r,i]=h(100),l=o&&{semaphore:e,firings:[o.firing],...be()};return s`<section class="panel">
    <h2>Firings</h2>
    <${W} of=${n} what="Reading the firings">
      ${u=>s`
        <p class="faint">${y(u.count)} remembered, at most ${y(u.limit)}.${u.forgotten_up_to&&` Those due until ${M(u.forgotten_up_to)} that are not listed count as forgotten.`}</p>
        <${K}
          caption="Firings"
          rows=${u.firings.slice(0,r)}
          rowKey=${p=>Ge(p.firing)}
          empty=${s`<${I} title="No firing is remembered.">A caller that names its firing, as gkctl run --firing does, is remembered here.<//>`}
          columns=${[["Firing",p=>Ge(p.firing),"name"],["State",p=>s`<span class="tag tone-${Ta[j(p.state,"FIRING_STATE_")]??"idle"}">${j(p.state,"FIRING_STATE_")}</span>`],["Who",p=>p.winner?F(p.winner):"–","name"],["Claimed at",p=>M(p.claimed_at)||"–","num"],["Attempts",p=>y(p.attempts),"num"],["Failure",p=>p.failure||"–"],["",p=>s`<${L} role="ROLE_OPERATOR" semaphore=${e} onClick=${()=>a(p)}>Forget …<//>`,"end"]]}
        />
        ${u.firings.length>r&&s`<button type="button" onClick=${()=>i(r*5)}>Show more</button>`}`}
    <//>
    ${o&&s`<${Q}
      title=${`Forget ${Ge(o.firing)}`}
      verb="Forget it"
      kind="danger"
      role="ROLE_OPERATOR"
      semaphore=${e}
      preview=${u=>T("/v1/firings:forget",{...l,dry_run:!0},u)}
      run=${(u,p)=>T("/v1/firings:forget",{...l,plan:p.plan,...u})}
      done=${()=>`${Ge(o.firing)} is forgotten.`}
      onDone=${n.refresh}
      onClose=${()=>a(null)}
    ><p>A forgotten firing can run again, even if its job has run.</p><//>`}
  </section>`}function Br({name:e,events:t,onChange:n}){let[o,a]=q(),r=o.get("permits")==="1",[i,l]=h(50),u=S(p=>E("/v1/history",{names:[e],permits:r,page_size:i},p),["history",e,r,i,t],{keep:!0});return s`<section class="panel">
    <div class="title"><h2>History</h2>
      <${fe} label="Also how permits ended" checked=${r} onChange=${p=>a({permits:p?"1":""})} />
    </div>
    <${W} of=${u} what="Reading the journal">
      ${p=>s`
        ${p.entries?.length?s`<${xt} entries=${p.entries} semaphore=${e} onChange=${n} />`:s`<${I} title="The journal has nothing of it." />`}
        ${p.next_page_token&&i<1e3&&s`<p class="row"><button type="button" onClick=${()=>l(Math.min(1e3,i*4))}>Show more</button></p>`}`}
    <//>
  </section>`}var Gn=[["1h",36e5],["6h",6*36e5],["24h",24*36e5],["7d",168*36e5]],Qn=4,Kr=12,Ca={released:"run",expired:"stop",abandoned:"idle",cancelled:"idle",cleared:"stop","freed unsafely":"deny",superseded:"idle"};function zr({name:e,permits:t,events:n}){let[o,a]=q(),r=Gn.find(([u])=>u===o.get("span"))??Gn[0];Pe();let i=Date.now()-r[1],l=S(u=>E("/v1/history",{names:[e],permits:!0,since:new Date(Date.now()-r[1]).toISOString(),page_size:1e3},u),["timeline",e,r[0],n],{keep:!0});return s`<section class="panel">
    <div class="title"><h2>Who held it when</h2>
      <div class="row" role="group" aria-label="Span of time">
        ${Gn.map(([u])=>s`<button type="button" key=${u} aria-pressed=${u===r[0]} onClick=${()=>a({span:u==="1h"?"":u})}>${u}</button>`)}
      </div>
    </div>
    <${W} of=${l} what="Reading the journal">
      ${u=>s`<${Da} entries=${u.entries??[]} permits=${t} from=${i} to=${Date.now()} more=${u.next_page_token} />`}
    <//>
  </section>`}function Da({entries:e,permits:t,from:n,to:o,more:a}){let r=[...t.map(c=>({who:F(c.identity),from:Date.parse(c.granted_at),to:o,how:"holds it now",tone:c.stop?"stop":"accent",token:c.token})),...e.filter(c=>c.permit&&c.kind!=="EVENT_KIND_GRANTED"&&c.permit.granted_at).map(c=>{let $=j(c.permit.ended,"PERMIT_END_")||j(c.kind,"EVENT_KIND_");return{who:F(c.permit.identity),from:Date.parse(c.permit.granted_at),to:Date.parse(c.permit.ended_at??c.at),how:$,tone:Ca[$]??"idle",token:c.permit.token}})],i=new Set,l=new Map;for(let c of r)i.has(c.token)||c.to<n||(i.add(c.token),l.set(c.who,[...l.get(c.who)??[],c]));if(l.size===0)return s`<${I} title="Nobody held it in this time." />`;let u=c=>1e3*(Math.max(c,n)-n)/(o-n),p=e.filter(c=>!c.permit&&Date.parse(c.at)>=n);return s`<div class="timeline">
    ${[...l].slice(0,Kr).map(([c,$])=>{let f=$[0],d=`${c}: ${C($.length,"permit","permits")}, the last from ${M(f.from)}, ${f.how}`;return s`<div class="lane" key=${c}>
        <span class="lane-name">${c}</span>
        <svg viewBox="0 0 1000 18" preserveAspectRatio="none" role="img" aria-label=${d}>
          <rect class="track" width="1000" height="18" />
          ${$.map(m=>s`<rect key=${m.token} class="fill-${m.tone}" x=${u(m.from)} y="2" height="14" width=${Math.max(1.5,u(m.to)-u(m.from))}>
            <title>${`${m.who}: ${M(m.from)}, ${m.how} after ${X(m.to-m.from)}, token ${m.token}`}</title>
          </rect>`)}
          ${p.map(m=>s`<line key=${m.revision} class="mark" x1=${u(Date.parse(m.at))} x2=${u(Date.parse(m.at))} y1="0" y2="18"><title>${`${j(m.kind,"EVENT_KIND_")} by ${m.author??"–"} at ${M(m.at)}`}</title></line>`)}
        </svg>
      </div>`})}
    <div class="lane axis" aria-hidden="true">
      <span class="lane-name"></span>
      <span class="ticks num">${Array.from({length:Qn+1},(c,$)=>s`<span key=${$}>${$===Qn?"now":it(n+(o-n)*$/Qn).slice(0,-3)}</span>`)}</span>
    </div>
    ${(l.size>Kr||a)&&s`<p class="faint">Not everything fits here. <a href="?tab=history&permits=1">The history has all of it.</a></p>`}
  </div>`}function Ra({permit:e,onClose:t,onDone:n}){let[o,a]=h({reason:"",drain:"",unsafe:!1}),[r,i]=h(null),[l,u]=h(!1);return s`<${ce} title="Revoke a permit" onClose=${t}>
    <form onSubmit=${async c=>{if(c.preventDefault(),!l){u(!0);try{let $={reason:o.reason,...be()};o.drain.trim()&&($.drain=Ce(o.drain)),o.unsafe&&($.unsafe_now=!0),await T(G`/v1/permits/${e.token}:revoke`,$),Ee(`The permit of ${F(e.identity)} is revoked.`),n(),t()}catch($){i($),u(!1)}}}}>
      <p>${F(e.identity)} must stop. Its refreshes are refused from now on, and its slot is free when it releases, or at its deadline.</p>
      <${O} label="Reason" value=${o.reason} onInput=${c=>a({...o,reason:c})} maxlength="1024" />
      <${O} label="Drain" placeholder="2m" value=${o.drain} onInput=${c=>a({...o,drain:c})} error=${Le(()=>Ce(o.drain))} help="How long it may continue. Empty: not at all." />
      <${fe} label="Free the slot at once" checked=${o.unsafe} onChange=${c=>a({...o,unsafe:c})}
        help="Unsafe: the holder may still run, and then two run at the same time. Only a fencing token protects what they write." />
      <${H} error=${r} />
      <p class="row end">
        <button type="button" onClick=${t}>Cancel</button>
        <button class=${o.unsafe?"danger":"primary"}>${l?"Working …":o.unsafe?"Revoke and free the slot":"Revoke"}</button>
      </p>
    </form>
  <//>`}function Oa({permit:e,onClose:t,onDone:n}){let[o,a]=h(""),[r,i]=h(null);return s`<${ce} title="Clear a slot" onClose=${t}>
    <form onSubmit=${u=>{u.preventDefault(),T(G`/v1/permits/${e.token}:clear`,{reason:o,...be()}).then(()=>{Ee("The slot is free."),n(),t()},i)}}>
      <p>The permit of ${F(e.identity)} expired, and its slot is held. Clear it when you know that its job does not run any more.</p>
      <${O} label="Reason" value=${o} onInput=${a} maxlength="1024" />
      <${H} error=${r} />
      <p class="row end"><button type="button" onClick=${t}>Cancel</button><button class="primary">Clear the slot</button></p>
    </form>
  <//>`}var Ia=e=>Object.entries(e??{}).map(([t,n])=>`${t}=${n}`).join(", ");function Aa({permits:e,onChange:t}){let[n,o]=h(null),a=()=>o(null);return s`<section class="panel">
    <h2>Holders</h2>
    <${K}
      caption="Holders"
      rows=${e}
      rowKey=${r=>r.token}
      empty=${s`<${I} title="Nobody holds a permit." />`}
      columns=${[["Holder",r=>s`${F(r.identity)}${r.identity?.holder_id&&s`<div class="sub">${r.identity.holder_id}</div>`}`,"name"],["State",r=>s`<span class="tone-${Jo(r)}">${Vo(r)}</span>`],["Since",r=>s`<${$e} at=${r.granted_at} />`,"num"],["Time left",r=>s`<${Vt} at=${r.deadline} of=${N(r.duration)} />`,"num"],["Weight",r=>y(r.weight),"num"],["Token",r=>r.token,"num"],["For",r=>[Ge(r.firing),Ia(r.metadata)].filter(Boolean).join("; ")||"–"],["",r=>r.state==="PERMIT_STATE_HELD"?s`<${L} role="ROLE_OPERATOR" semaphore=${r.semaphore} onClick=${()=>o({clear:r})}>Clear …<//>`:r.state==="PERMIT_STATE_COOLING"?null:s`<${L} role="ROLE_OPERATOR" semaphore=${r.semaphore} group=${r.identity?.group} acquirer=${r.identity?.acquirer} onClick=${()=>o({revoke:r})}>Revoke …<//>`,"end"]]}
    />
    ${n?.revoke&&s`<${Ra} permit=${n.revoke} onClose=${a} onDone=${t} />`}
    ${n?.clear&&s`<${Oa} permit=${n.clear} onClose=${a} onDone=${t} />`}
  </section>`}function Na({data:e}){let t=n=>new Date(e.at-N(n.waiting)).toISOString();return s`<section class="panel">
    <h2>Queue</h2>
    <${K}
      caption="Waiters"
      rows=${e.waiters}
      rowKey=${n=>`${n.request_id}/${n.place}`}
      empty=${s`<${I} title="Nobody waits." />`}
      columns=${[["Place",n=>n.place||"idle worker","num"],["Waiter",n=>F(n.identity),"name"],["Weight",n=>y(n.weight),"num"],["Waiting for",n=>s`<${$e} at=${t(n)} />`,"num"]]}
      note=${e.next_page_token&&"More wait than are shown here."}
    />
    ${(e.tasks??[]).map(n=>s`<p key=${n.job}><a href=${`/jobs/${encodeURIComponent(n.job)}`}>${n.job}</a>: ${y(n.tasks)} tasks wait for a worker.</p>`)}
  </section>`}var Ma=e=>`?${new URLSearchParams({tab:"explain",group:e.identity?.group??"",acquirer:e.identity?.acquirer??""})}`;function La({rows:e,caption:t}){return s`<${K}
    caption=${t}
    rows=${e}
    rowKey=${n=>`${n.semaphore} ${F(n.identity)}`}
    columns=${[["Caller",n=>F(n.identity),"name"],["Why",n=>s`${n.message}<div class="sub">${j(n.reason,"REASON_")}${n.let_in&&`; ${F(n.let_in)} was let in, so it may be a standby`}${n.cured&&"; would not be denied now"}</div>`],["Times",n=>y(n.count),"num"],["Last",n=>s`<span title=${M(n.last)}><${$e} at=${n.last} /> ago</span>`,"num"],["",n=>s`<a href=${n.semaphore?Ma(n):void 0}>Explain</a>`,"end"]]}
  />`}function ja({name:e,events:t}){let n=S(o=>E("/v1/denied",{names:[e],cured:!0},o),["denied",e,t],{every:1e4,keep:!0});return s`<section class="panel">
    <h2>Denied</h2>
    <${W} of=${n} what="Reading who was denied">
      ${o=>s`
        ${o.callers?.length?s`<${La} rows=${o.callers} caption="Callers that were denied" />`:s`<${I} title="Nobody is denied.">Callers show here when waiting does not help them${o.since?`; remembered since ${M(o.since)}`:""}.<//>`}
        ${o.misspelled?.length>0&&s`<h3>They may mean this semaphore</h3>
          <ul>${o.misspelled.map(a=>s`<li>${F(a.identity)} asks for <code>${a.semaphore}</code>, which does not exist.</li>`)}</ul>`}`}
    <//>
  </section>`}function Vr({name:e,of:t}){return s`<div class="stack">
    <${W} of=${t.holders} what="Reading who holds it">${n=>s`<${Aa} permits=${n} onChange=${t.read} />`}<//>
    <${zr} name=${e} permits=${t.holders.data??[]} events=${t.events} />
    <div class="panels">
      <${W} of=${t.waiters} what="Reading the queue">${n=>s`<${Na} data=${n} />`}<//>
      <${ja} name=${e} events=${t.events} />
    </div>
  </div>`}function nn(e={}){let t={};for(let n of ve){let o=e[n.name];switch(n.kind){case"labels":t[n.name]=Object.keys(o??{}).sort().map(a=>o[a]===""?a:`${a}=${o[a]}`).join(`
`);break;case"duration":t[n.name]=Fe(o);break;case"flag":t[n.name]=o?"yes":"no";break;case"choice":t[n.name]=Je(n,e);break;default:t[n.name]=String(o??(n.kind==="number"&&n.name==="max_attempts"?0:""))}}return t}function Jr(e,t={}){let n={...t},o={};for(let a of ve){let r=e[a.name]??"";try{let i=Fa(a,r);i===void 0?delete n[a.name]:n[a.name]=i}catch(i){o[a.name]=i.message}}return{definition:n,errors:o}}function Fa(e,t){switch(e.kind){case"labels":{let n={};for(let o of t.split(`
`).map(a=>a.trim()).filter(Boolean)){let a=o.indexOf("="),r=(a<0?o:o.slice(0,a)).trim();if(!r)throw new Error(`“${o}” has no key. Write key=value.`);if(Object.hasOwn(n,r))throw new Error(`The key ${r} stands here twice.`);Object.defineProperty(n,r,{value:a<0?"":o.slice(a+1).trim(),enumerable:!0})}return n}case"duration":return Ce(t);case"number":{if(t.trim()==="")return;if(!/^\d+$/.test(t.trim()))throw new Error(`“${t}” is not a whole number.`);return Number(t)}case"flag":return t==="yes";case"choice":return e.prefix+t.toUpperCase();case"pattern":if(t==="")throw new Error("An empty pattern would let nobody in. .* lets everybody in.");return t}return t}function Gr(e,t,n){let o={},a=[],r=[];for(let i of ve){let[l,u,p]=[e[i.name],t[i.name],n[i.name]];o[i.name]=u===l?p:u,u!==l&&p!==l&&u!==p&&(a.push(i.name),o[i.name]=p),(u!==l||p!==l)&&r.push({field:i,base:l,mine:u,theirs:p})}return{merged:o,conflicts:a,rows:r}}function Qr({of:e,base:t,onMerged:n,onCancel:o}){let{theirs:a,conflicts:r,rows:i}=e,[l,u]=h({}),p=r.filter(f=>!l[f]),c=()=>{let f={...e.merged};for(let d of i)l[d.field.name]&&(f[d.field.name]=d[l[d.field.name]]);n(f)},$=f=>{let d=f.field.name;if(!r.includes(d))return f.mine===f.theirs?s`<${Zt}>the same<//>`:f.mine!==f.base?s`<${Zt} tone="accent">yours<//>`:s`<${Zt} tone="wait">theirs<//>`;let m=(_,g)=>s`<label class="radio">
      <input type="radio" name=${`keep-${d}`} checked=${l[d]===_} onChange=${()=>u({...l,[d]:_})} /> ${g}
    </label>`;return s`<fieldset class="radios"><legend class="sr-only">Which ${f.field.label} to keep</legend>${m("mine","yours")}${m("theirs","theirs")}</fieldset>`};return s`<section class="panel conflict" aria-label="Conflict">
    <h2>Somebody else was faster</h2>
    <p role="alert">${a.updated_by||"Somebody"} saved version ${a.version} at ${M(a.updated_at)}${a.reason&&` (${a.reason})`}. You began
      with version ${t?.version??"–"}. Nothing of yours is saved yet, and nothing is lost.</p>
    <${K}
      caption="Fields that differ"
      rows=${i}
      rowKey=${f=>f.field.name}
      columns=${[["Field",f=>f.field.label],["When you began",f=>s`<code>${f.base||"(none)"}</code>`],["Yours",f=>f.mine===f.base?s`<span class="faint">unchanged</span>`:s`<ins>${f.mine||"(none)"}</ins>`],["Theirs",f=>f.theirs===f.base?s`<span class="faint">unchanged</span>`:s`<ins class="theirs">${f.theirs||"(none)"}</ins>`],["Keep",$]]}
    />
    <p class="row end">
      <span class="grow" role="status">${p.length?`Choose for ${p.length===1?"1 field":`${p.length} fields`} that you both changed.`:"Everything is decided."}</span>
      <button type="button" onClick=${o}>Back to the form</button>
      <button type="button" class="primary" aria-disabled=${p.length?"true":void 0} onClick=${()=>p.length||c()}>Review the result …</button>
    </p>
  </section>`}var Yn=60;function Yr({name:e,group:t,acquirer:n}){let[o,a]=h({group:t,acquirer:n});x(()=>{let d=setTimeout(()=>a({group:t,acquirer:n}),250);return()=>clearTimeout(d)},[t,n]);let r=S(d=>Se("/v1/known",{},"callers",d,1e3),["known"]),i=S(o.group&&o.acquirer?async d=>{let m={name:`${e.slice(0,60)}~pattern-test`,group_pattern:o.group,acquirer_pattern:o.acquirer};return(await T("/v1/preview",{edits:{edits:[{create:m}]}},d)).effects?.[0]??{}}:null,["patterns",o],{keep:!0}),l=r.data?.items??[],u=i.data?.eligible??i.data?.total_admitted??0,p=new Set((i.data?.admitted??[]).map(d=>`${d.acquirer} in ${d.group}`)),c=i.error&&!i.error.offline?i.error.fields?.[0]?.rule??i.error.message:"",$=p.size>=u,f=[...l].sort((d,m)=>p.has(`${m.acquirer} in ${m.group}`)-p.has(`${d.acquirer} in ${d.group}`));return s`<div class="pattern-test full" aria-live="polite">
    ${c?s`<p class="error">${c}</p>`:l.length===0?s`<p class="faint">Nobody was seen asking yet, so the patterns cannot be tried on anybody.</p>`:s`<p><strong class=${u?"tone-run":"tone-deny"}>These patterns let in ${u?y(u):"none"} of ${C(l.length,"known caller","known callers")}${r.data?.more?" and more":""}.</strong></p>
            <ul class="chips">${f.slice(0,Yn).map(d=>{let m=`${d.acquirer} in ${d.group}`,_=p.has(m);return!_&&!$?null:s`<li key=${m} class=${_?"in":"out"}><span aria-hidden="true">${_?"✓":"✗"}</span><span class="sr-only">${_?"let in: ":"not let in: "}</span>${m}</li>`})}${l.length>Yn&&s`<li class="out">and ${y(l.length-Yn)} more</li>`}</ul>`}
  </div>`}var Xr={group_pattern:".*",acquirer_pattern:".*",permits:1,duration:"60s"};function Zr({name:e,record:t,onSaved:n}){let[o,a]=q();if(o.get("edit")==="1"||!t)return s`<${Pa} name=${e} record=${t} onSaved=${n} onDone=${()=>a({edit:""})} />`;let i=t.definition;return s`<section class="panel">
    <div class="title"><h2>Rule</h2>
      <${L} role="ROLE_EDITOR" semaphore=${e} kind="primary" onClick=${()=>a({edit:"1"},{replace:!1})}>Edit<//>
    </div>
    <${Ie} of=${ve.map(l=>[l.label,Je(l,i)&&(l.kind==="pattern"?s`<code>${Je(l,i)}</code>`:Je(l,i))])} />
    <p class="faint">Version ${t.version}, ${M(t.updated_at)}${t.updated_by&&`, by ${t.updated_by}`}${t.reason&&`: ${t.reason}`}</p>
  </section>`}var on=["firing_on_loss","firing_retention","firing_limit","firing_max_ahead","max_attempts","misfire","misfire_window"];function Pa({name:e,record:t,onSaved:n,onDone:o}){let[a,r]=h(t),[i,l]=h(()=>nn(t?.definition??Xr)),[u,p]=h({}),[c,$]=h(!1),[f,d]=h(null),[m,_]=h({}),g=de(()=>nn(a?.definition??Xr),[a]),{definition:v,errors:w}=Jr(i,a?.definition??{name:e}),D=!a||ve.some(b=>i[b.name]!==g[b.name]),A=Object.keys(w).length>0,k=t&&a&&t.version!==a.version?t:null;x(()=>{if(!D||!a)return;let b=ue=>ue.preventDefault();return addEventListener("beforeunload",b),()=>removeEventListener("beforeunload",b)},[D]);let Y=b=>ue=>{l(te=>({...te,[b]:ue})),_(te=>({...te,[b]:void 0}))},ie=a?{replace:v,expected_version:a.version}:{create:{...v,name:e}},le=()=>({edits:[ie],...Me(u.drain),...a?Ne(u):{}}),he=b=>d({theirs:b,...Gr(g,i,nn(b.definition))}),re=b=>{if(b.reason==="STALE_VERSION")return E(G`/v1/definitions/${e}`).then(te=>he(te.record),te=>Ee(te.message,{tone:"deny"})),!0;let ue=b.fields?.filter(te=>ve.some(R=>te.field.endsWith(R.name)))??[];return ue.length===0?!1:(_(Object.fromEntries(ue.map(te=>[ve.find(R=>te.field.endsWith(R.name)).name,te.rule]))),!0)},J=b=>{let ue=w[b.name]??m[b.name],te=i[b.name],R={key:b.name,label:b.label,help:b.help,error:ue,class:te!==g[b.name]?"changed":""};if(b.kind==="flag")return s`<${fe} ...${R} checked=${te==="yes"} onChange=${U=>Y(b.name)(U?"yes":"no")} />`;if(b.kind==="choice")return s`<${xe} ...${R} value=${te} onChange=${Y(b.name)} options=${b.values.map(U=>[U.toLowerCase(),U.toLowerCase()])} />`;let P=b.kind==="labels"?3:b.name==="description"?2:void 0;return s`<${O} ...${R} value=${te} onInput=${Y(b.name)} area=${P} name=${b.name} inputmode=${b.kind==="number"?"numeric":void 0} />`},ee=b=>{b.preventDefault(),!A&&D&&$(!0)};return f?s`<${Qr}
      of=${f}
      base=${a}
      onCancel=${()=>d(null)}
      onMerged=${b=>{r(f.theirs),l(b),d(null),$(!0)}}
    />`:s`<section class="panel">
    <div class="title"><h2>${a?"Edit the rule":"Create this semaphore"}</h2></div>
    ${k&&s`<p class="note" role="alert">${k.updated_by||"Somebody"} saved another version at ${M(k.updated_at)}, while you edit.
      <button type="button" onClick=${()=>he(k)}>Compare and merge</button></p>`}
    <form onSubmit=${ee}>
      <div class="form">
        ${ve.filter(b=>!on.includes(b.name)&&b.kind!=="pattern"&&["description","labels"].includes(b.name)).map(J)}
        ${ve.filter(b=>b.kind==="pattern").map(J)}
        <${Yr} name=${e} group=${i.group_pattern} acquirer=${i.acquirer_pattern} />
        ${ve.filter(b=>!on.includes(b.name)&&b.kind!=="pattern"&&!["description","labels"].includes(b.name)).map(J)}
      </div>
      <details open=${on.some(b=>i[b]!==g[b]||w[b])}>
        <summary>Firings</summary>
        <div class="form">${ve.filter(b=>on.includes(b.name)).map(J)}</div>
      </details>
      <p class="row end sticky-end">
        ${D&&s`<span class="grow faint">Nothing is saved yet.</span>`}
        ${a&&s`<button type="button" onClick=${o}>${D?"Discard":"Back"}</button>`}
        <${L} role="ROLE_EDITOR" semaphore=${e} type="submit" kind="primary" why=${A?"A field has a mistake.":D?"":"Nothing was changed."}>Review and save …<//>
      </p>
    </form>
    ${c&&s`<${Q}
      title=${a?`Save ${e}`:`Create ${e}`}
      verb=${a?"Save":"Create"}
      role="ROLE_EDITOR"
      semaphore=${e}
      deps=${u}
      preview=${async b=>T("/v1/preview",{edits:le()},b)}
      run=${async b=>T("/v1/definitions:edit",{...le(),...b})}
      done=${b=>`${e} is ${a?"saved":"created"}, as change ${b.revision}.`}
      onError=${re}
      onClose=${()=>$(!1)}
      onDone=${()=>{n(),o()}}
    >
      ${a&&s`<details><summary>Only for a time, or with a drain</summary>
        <div class="form"><${Ue} value=${u} set=${p} without="Then the old values come back. Empty: for good." /><${Ye} value=${u} set=${p} /></div>
      </details>`}
    <//>`}
  </section>`}function es({name:e,events:t}){let n=S(a=>E("/v1/jobs",{semaphore:e,page_size:200},a),["jobs",e,t],{every:5e3,keep:!0}),o=S(a=>E("/v1/workers",{semaphore:e},a),["workers",e,t],{every:5e3,keep:!0});return s`<div class="stack">
    <section class="panel"><h2>Jobs</h2>
      <${W} of=${n} what="Reading the jobs">
        ${a=>a.jobs?.length?s`<${Un} jobs=${a.jobs} />`:s`<${I} title="It has no jobs.">Submit one with gkctl job submit.<//>`}
      <//>
    </section>
    <section class="panel"><h2>Workers</h2>
      <${W} of=${o} what="Reading the workers">${a=>s`<${Wn} data=${a} />`}<//>
    </section>
  </div>`}var qa=[["now","Now"],["rule","Rule"],["history","History"],["firings","Firings"],["tasks","Tasks"],["explain","Explain"]],Ua=(e,t)=>e.map(n=>({...n,deadline:n.expires_in?t+N(n.expires_in):0}));function Wa(e){let t=S(p=>E(G`/v1/definitions/${e}`,{},p),["record",e],{every:15e3}),n=S(async p=>{let c=Date.now();return Ua((await Se("/v1/holders",{names:[e]},"permits",p)).items,c)},["holders",e],{every:15e3}),o=S(async p=>({at:Date.now(),...await E("/v1/waiters",{names:[e],page_size:200},p)}),["waiters",e],{every:5e3}),[a,r]=h(null),[i,l]=h(0),u=qe(()=>{t.refresh(),n.refresh(),o.refresh(),l(p=>p+1)},40);return Ae("/v1/watch",{names:[e],permits:!0,live_every:"1s"},{open:p=>p&&u(),missed:u,message:({events:p=[]})=>p.length&&u(),live(p){let c=((p.live??p).semaphores??[]).find(d=>d.semaphore===e),$=Date.now(),f=new Map((c?.deadlines??[]).map(d=>[d.token,$+N(d.expires_in)]));n.set(d=>d?.map(m=>f.has(m.token)?{...m,deadline:f.get(m.token)}:m)),a&&(c?.waiters??0)!==a.waiters&&o.refresh(),r({waiters:c?.waiters??0})}}),{record:t,holders:n,waiters:o,live:a,events:i,read:u}}function Ha({record:e,onChange:t}){let[n,o]=h(""),a=e.definition.name,r=()=>o("");return s`
    ${e.pause?s`<${L} role="ROLE_OPERATOR" semaphore=${a} onClick=${()=>o("resume")}>Resume …<//>`:s`<${L} role="ROLE_OPERATOR" semaphore=${a} onClick=${()=>o("pause")}>Pause …<//>`}
    <a class="button" href=${`/move?names=${encodeURIComponent(a)}`}>Move …</a>
    <${L} role="ROLE_EDITOR" semaphore=${a} kind="danger" onClick=${()=>o("delete")}>Delete …<//>
    ${n==="pause"&&s`<${qr} selector=${{names:[a]}} onClose=${r} onDone=${t} />`}
    ${n==="resume"&&s`<${Ur} selector=${{names:[a]}} onClose=${r} onDone=${t} />`}
    ${n==="delete"&&s`<${Q}
      title=${`Delete ${a}`}
      verb="Delete it"
      kind="danger"
      role="ROLE_EDITOR"
      semaphore=${a}
      preview=${i=>T("/v1/preview",{edits:{edits:[{delete:a,expected_version:e.version}]}},i)}
      run=${i=>T("/v1/definitions:edit",{edits:[{delete:a,expected_version:e.version}],...i})}
      done=${()=>`${a} is deleted.`}
      onDone=${()=>_e("/")}
      onClose=${r}
    />`}`}function Ba({record:e,holders:t,live:n}){let o=Number(e.used??0),a=e.definition.permits??0;return s`<dl class="figures">
    <div><dt>In use</dt><dd class="num">${y(o)}<span class="faint"> / ${y(a)}</span></dd>
      <dd><${Te} share=${a?o/a:o?1:0} label="${o} of ${a} permits in use" /></dd></div>
    <div><dt>Holders</dt><dd class="num">${y(t?.length??e.holders)}</dd></div>
    <div><dt>Queue</dt><dd class="num">${y(n?.waiters??e.waiters)}</dd></div>
  </dl>`}function ts({name:e}){se(e);let t=Wa(e),[n]=q(),o=n.get("tab")??"now",a=t.record.data?.record,r=t.record.error?.code==="NOT_FOUND",i=r&&!a;return s`
    <${Z} aside=${a&&s`<${Ha} record=${a} onChange=${t.read} />`}>${e}<//>
    <${Xe} />
    ${r&&s`<p class="note">There is no definition of this name${a?" any more":""}. Its history and firings may still be known.</p>`}
    ${a&&!r&&s`<div class="standing">
      <p class="row">${kt(a).map(l=>s`<${Tt} key=${l.value} value=${l.value} />`)}</p>
      ${zt(a).map(l=>s`<p class="note">${l}</p>`)}
      <${Ba} record=${a} holders=${t.holders.data} live=${t.live} />
    </div>`}
    ${t.record.error&&!r&&!t.record.error.offline&&s`<${H} error=${t.record.error} retry=${t.record.refresh} />`}
    <${lt} of=${qa} label="Parts of this semaphore" />
    ${!a&&!r?!t.record.error&&s`<${ke} what="Reading the semaphore" />`:o==="rule"?s`<${Zr} key=${e} name=${e} record=${r?null:a} onSaved=${t.read} />`:o==="history"?s`<${Br} name=${e} events=${t.events} onChange=${t.read} />`:o==="firings"?s`<${Hr} name=${e} events=${t.events} />`:o==="explain"?s`<${Wr} name=${e} />`:i?s`<${I} title="Nothing to show.">Create it under <a href="?tab=rule">Rule</a>, or look at its <a href="?tab=history">history</a>.<//>`:o==="tasks"?s`<${es} name=${e} events=${t.events} />`:s`<${Vr} name=${e} of=${t} />`}`}var Ka=[[/^\/$/,Or],[/^\/s\/(.+)$/,ts],[/^\/move$/,jr],[/^\/activity$/,dr],[/^\/jobs$/,wr],[/^\/jobs\/(.+)$/,Er],[/^\/cluster$/,vr],[/^\/access$/,pr]];function za(){return se("No such page"),s`<${Z}>No such page<//><${I} title="There is nothing at this address."><a href="/">Go to the overview</a><//>`}function Va(){let e=B(ot).split("?")[0],t=B(Be),[n,o]=h(!1),a=B(Oe);if(x(()=>{e!=="/login"&&!Oe.get()&&vn().catch(()=>{}).then(()=>o(!0))},[e==="/login",t]),e==="/login")return s`<${Jt} bare><${xr} /><//>`;if(!a&&!n)return s`<${Jt} bare><${ke} what="Asking who you are" /><//>`;let[r,i]=Ro(e,Ka)??[za,[]];return s`<${Jt}><${r} key=${e} name=${i[0]} /><//>`}mo(s`<${Va} />`,document.getElementById("app"));
//# sourceMappingURL=app.js.map
